"""The sliding disk at constant temperature."""

import numpy as np

import naiad as nd
from naiad.diagnostics import Equilibrium, equilibrium
from naiad.diagnostics.equilibrium import check_length
from naiad.studies.heat.methods import CHOICES, LongRun, normal_density
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study


class SlidingDisk(Study, LongRun, name="sliding-disk"):
    """Sliding disk in a heat bath: equipartition by a stochastic variational integrator.

    A disk slides and rotates on a surface with friction and noise at its point of contact. In a potential its
    translation and its rotation both come to the temperature kT = alpha^2/(2c): kinetic_v_over_kT and
    kinetic_omega_over_kT are 1, up to their standard errors and a bias proportional to dt (to dt^2 with
    method=midpoint). Without a potential J omega - m r v never changes and neither is 1: from rest
    kinetic_v_over_kT is 1/(1 + m r^2/J). With noise=translation the noise does not balance the friction: the
    motion is driven, and in a harmonic potential translation and rotation settle at temperatures of their own, above
    kT or below: 5 and 2 kT with the defaults, 2.860 and 0.603 kT with m=1.4 J=0.6 r=0.8 c=0.7 alpha=0.9 k=1.7.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, (7.5.4)-(7.5.9)"

    method: str = parameter("euler", choices=CHOICES, help="integrator")
    noise: str = parameter(
        "isothermal",
        choices={"isothermal": "balances the friction", "translation": "in the translation only"},
        help="where the noise acts",
    )
    potential: str = parameter(
        "harmonic",
        choices={"none": "0", "harmonic": "k x^2/2", "quartic": "k x^4/4", "cosine": "k (1 - cos x)"},
        help="U(x)",
    )
    m: float = parameter(1.0, unit="kg", above=0.0, help="mass")
    J: float = parameter(0.5, unit="kg m^2", above=0.0, help="moment of inertia")
    r: float = parameter(1.0, unit="m", help="radius")
    c: float = parameter(1.0, unit="kg/s", above=0.0, help="friction")
    alpha: float = parameter(1.0, unit="N s^(1/2)", above=0.0, help="amplitude of the noise")
    k: float = parameter(1.0, help="constant of the potential")
    x0: float = parameter(0.0, unit="m", help="initial position")
    v0: float = parameter(0.0, unit="m/s", help="initial velocity")
    omega0: float = parameter(0.0, unit="rad/s", help="initial angular velocity")

    def validate(self) -> None:
        check_length(self.t1, self.dt)

    def run(self, progress: Progress) -> Findings:
        disk = nd.models.SlidingDisk(
            self.m,
            self.J,
            self.r,
            c=self.c,
            alpha=self.alpha,
            k=self.k,
            potential=self.potential,
            noise="translation" if self.noise == "translation" else "isothermal",
        )
        difference = disk.J * self.omega0 - disk.m * disk.r * self.v0
        observables = {
            "kinetic_v_over_kT": lambda state, t: state.mu[0] ** 2 / (disk.m * disk.kT),
            "kinetic_omega_over_kT": lambda state, t: state.mu[1] ** 2 / (disk.J * disk.kT),
            "difference_change": lambda state, t: state.mu[1] - disk.r * state.mu[0] - difference,
        }
        found = equilibrium(
            disk,
            disk.state(q=(self.x0, 0.0), v=(self.v0, self.omega0)),
            observables,
            **self.options(self.method),
            progress=progress,
        )
        results: dict[str, float] = {"kT": disk.kT}
        for name in ("kinetic_v_over_kT", "kinetic_omega_over_kT"):
            results[name] = found.mean(name)
            results[f"{name}_standard_error"] = found.standard_error(name)
        results["difference_change_max"] = found.largest["difference_change"]
        results["steps"] = found.steps
        return Findings(results, found.dataset, figures(found, disk), notes=_NOTES, units=_UNITS)


def figures(found: Equilibrium, disk: nd.models.SlidingDisk) -> dict:
    """The distributions of both velocities beside those of Gibbs, and the averages as they settle."""
    from naiad import viz

    def velocities():
        momenta = np.concatenate([piece.states.mu[1:] for piece in found.pieces])
        quantities = {
            "velocity v [m/s]": viz.Distribution(momenta[:, 0] / disk.m, normal_density(disk.kT / disk.m)),
            "angular velocity ω [rad/s]": viz.Distribution(momenta[:, 1] / disk.J, normal_density(disk.kT / disk.J)),
        }
        return viz.distributions(quantities)

    def averages():
        batches = {
            "⟨m v²⟩/kT": found.batch_means["kinetic_v_over_kT"],
            "⟨J ω²⟩/kT": found.batch_means["kinetic_omega_over_kT"],
        }
        return viz.averages(found.ends, batches, "average so far", expected=1.0, title="Equipartition")

    return {"velocities": velocities, "averages": averages}


_UNITS = {"kT": "J", "difference_change_max": "kg m^2/s"}

_NOTES = (
    "`kinetic_v_over_kT` is the average of m v^2/kT and `kinetic_omega_over_kT` that of J omega^2/kT over every step "
    "after the warm-up, with kT = alpha^2/(2c); their standard errors come from the scatter of 50 batches, and hold if "
    "a batch is much longer than the memory of the motion. `difference_change_max` is how far J omega - m r v goes "
    "from its initial value: not at all without a potential, under isothermal noise."
)
