"""A free body that tumbles, beside MuJoCo: the energy over 1e5 steps of the same size; draws docs/images/mujoco.png.

python -m benchmarks.mujoco_body [FILE]        # needs mujoco, which the extra `bench` brings
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import naiad as nd
from benchmarks.compare import table
from naiad.viz import PALETTE, house, new_figure

matplotlib.use("Agg")

J = np.array([1.0, 2.0, 3.0])
OMEGA = np.array([2.1, 1.2, -1.5])
DT = 0.002
"""MuJoCo's own default."""
STEPS, EVERY = 100_000, 100
INTEGRATORS = ("Euler", "implicitfast", "RK4")
MODEL = """
<mujoco>
  <option timestep="{dt}" integrator="{integrator}" gravity="0 0 0"/>
  <worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="{J}"/></body></worldbody>
</mujoco>
"""
OFFSETS = {"MuJoCo Euler": 14, "MuJoCo implicitfast": -16, "naiad, default": 9}
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "mujoco.png"


def mujoco_energy(integrator: str) -> np.ndarray:
    """The kinetic energy of rotation at every `EVERY`-th step, by one of MuJoCo's integrators."""
    import mujoco

    text = MODEL.format(dt=DT, integrator=integrator, J=" ".join(map(str, J)))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[3:] = OMEGA  # in the body frame
    energies = [0.5 * J @ OMEGA**2]
    for _ in range(STEPS // EVERY):
        mujoco.mj_step(model, data, EVERY)
        energies.append(0.5 * J @ data.qvel[3:] ** 2)
    return np.array(energies)


def naiad_energy(method: nd.integrators.AbstractMethod) -> np.ndarray:
    """The same by one of naiad's methods."""
    body = nd.models.RigidBody(J)
    run = nd.simulate(
        body, body.state(Omega=OMEGA), t1=STEPS * DT, dt=DT, method=method, save_every=EVERY, progress=False
    )
    return run.energy.to_numpy()


def measure() -> dict[str, np.ndarray]:
    """The relative error of the energy over time, for each."""
    energies = {f"MuJoCo {name}": mujoco_energy(name) for name in INTEGRATORS}
    energies["naiad, default"] = naiad_energy(nd.Variational())
    energies["naiad, order 4"] = naiad_energy(nd.Composition(nd.Variational(), 4))
    return {name: energy / energy[0] - 1.0 for name, energy in energies.items()}


def draw(errors: dict[str, np.ndarray], path: Path) -> None:
    """The errors of those that drift visibly, and the sizes of all of them."""
    time = DT * EVERY * np.arange(STEPS // EVERY + 1)
    colours = dict(zip(errors, (PALETTE[1], PALETTE[4], PALETTE[3], PALETTE[0], PALETTE[5]), strict=True))
    with house():
        figure = new_figure(10.0, 3.5)
        linear, sizes = figure.subplots(1, 2)
        for name in ("MuJoCo Euler", "MuJoCo implicitfast", "naiad, default"):
            linear.plot(time, 100.0 * errors[name], color=colours[name], linewidth=1.6)
            near = int(0.6 * len(time))
            linear.annotate(
                name, (time[near], 100.0 * errors[name][near]), (-10, OFFSETS[name]), textcoords="offset points"
            ).set(color=colours[name], ha="right", va="center")
        for name, error in errors.items():
            sizes.plot(time[1:], np.maximum(np.abs(error[1:]), 1e-17), color=colours[name], label=name, linewidth=1.0)
        linear.set(xlabel="time [s]", ylabel="energy error [%]", xlim=(0.0, time[-1]))
        sizes.set(xlabel="time [s]", ylabel="|energy error|, relative", yscale="log", xlim=(0.0, time[-1]))
        sizes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        for ax in (linear, sizes):
            ax.grid(True, color="#E4E4E4", linewidth=0.6)
        figure.savefig(path, dpi=160)


def report() -> str:
    """The table of the errors at the end and of the largest."""
    return _rows(measure())


def _rows(errors: dict[str, np.ndarray]) -> str:
    body = [[name, f"{100 * error[-1]:+.2g} %", f"{np.abs(error).max():.1e}"] for name, error in errors.items()]
    return table(["", "energy at the end", "largest relative error"], body)


def main() -> None:
    """Measure, draw, print."""
    errors = measure()
    draw(errors, Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGE)
    print(_rows(errors))


if __name__ == "__main__":
    main()
