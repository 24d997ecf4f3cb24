"""A crane: a payload on a cable below a trolley that moves, with hoisting."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import naiad as nd
from naiad.forces import AbstractSignal
from naiad.mechanics import Scalar
from naiad.numerics import Module
from naiad.strings import HangingBody, Reel, StringPendulum, StringVariational
from naiad.studies.parameters import Names, parameter
from naiad.studies.progress import Progress
from naiad.studies.strings.driven_string import DrivenString
from naiad.studies.study import Findings, Study, Table

RADIUS, SPARE = 0.3, 5.0  # of the drum; cable that stays on it
SHAPERS = {
    "plain": ((1.0,), (0.0,)),
    "zv": ((0.5, 0.5), (0.0, 0.5)),
    "zvd": ((0.25, 0.5, 0.25), (0.0, 0.5, 1.0)),
}
"""Weights of the parts of a move, and their delays in periods of the swing [singer1990]."""
COLUMNS = {
    "t_stop": "stops at [s]",
    "peak_swing": "peak swing [°]",
    "residual_swing": "residual swing [°]",
    "tension_max": "tension up to [N]",
    "moment_max": "moment up to [N m]",
    "energy_balance_error_max": "energy balance error [J]",
}


class Crane(Study, name="crane"):
    """A payload on the cable of a crane: plain and shaped moves of the trolley, with hoisting.

    A plain move leaves the payload swinging. The same move in two halves, the second half a period later (zv), or in
    three parts (zvd), leaves next to nothing; hoisting changes the period on the way, and zvd minds that less.
    """

    paper = "an example of what [lee2010, section 1] names as a use; input shaping after Singer and Seering (1990)"

    shapers: Names = parameter(
        ("plain", "zv", "zvd"),
        choices={"plain": "one move", "zv": "two halves", "zvd": "a quarter, a half, a quarter"},
        help="how the trolley moves",
    )
    distance: float = parameter(20.0, unit="m", help="how far the trolley goes")
    t_move: float = parameter(8.0, unit="s", above=0.0, help="duration of the plain move, and of the hoisting")
    t_after: float = parameter(20.0, unit="s", above=0.0, help="how long to watch the payload after that")
    L0: float = parameter(20.0, unit="m", above=0.0, help="length of cable outside, at first")
    L1: float = parameter(16.0, unit="m", above=0.0, help="the same at the end")
    M: float = parameter(1000.0, unit="kg", above=0.0, help="mass of the payload")
    mu: float = parameter(1.0, unit="kg/m", above=0.0, help="mass of the cable per length")
    EA: float = parameter(5e6, unit="N", above=0.0, help="axial stiffness of the cable")
    eta: float = parameter(5e4, unit="N s", at_least=0.0, help="its internal damping")
    g: float = parameter(9.81, unit="m/s^2", above=0.0, help="gravity")
    elements: int = parameter(8, at_least=1, help="number of finite elements")
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")

    def run(self, progress: Progress) -> Findings:
        count = len(self.shapers)
        moves = {name: self.move(name, progress.part(i, count, name)) for i, name in enumerate(self.shapers)}
        results = {"period": self.period(), **{name: each.results() for name, each in moves.items()}}
        from naiad.studies.strings import crane_figures as figures

        drawn = {
            "snapshots": lambda: figures.snapshots(moves),
            "swing": lambda: figures.swings(moves),
            "hoist": lambda: figures.hoist(moves),
        }
        first = next(iter(moves.values()))
        rows: dict[str, Any] = {name: results[name] for name in moves}
        return Findings(
            results,
            lambda: first.run.dataset,
            drawn,
            notes=_NOTES,
            units=_UNITS,
            tables={"moves": lambda: comparison(rows)},
        )

    def period(self) -> float:
        """Of small swings at the mean length, the cable straight: 2 pi sqrt((M + m/3) L/((M + m/2) g))."""
        length = 0.5 * (self.L0 + self.L1)
        m = self.mu * length
        return float(2.0 * np.pi * np.sqrt((self.M + m / 3) * length / ((self.M + m / 2) * self.g)))

    def move(self, shaper: str, progress: Progress) -> "Move":
        """The motion with one of the moves, every step of it."""
        weights, delays = (np.asarray(each) for each in SHAPERS[shaper])
        delays = delays * self.period()
        total = max(self.L0, self.L1) + SPARE
        system = StringPendulum(
            length=total,
            mass_per_length=self.mu,
            stiffness=self.EA,
            elements=self.elements,
            gravity=(0.0, 0.0, self.g),
            body=HangingBody(self.M),
            reel=Reel(radius=RADIUS, guide=RADIUS, locked=True),
            wound=Hoist(total, self.L0, self.L1, self.t_move),
            damping=self.eta,
            guide=ShapedMove(self.distance, self.t_move, weights, delays),
        )
        last = self.t_move + float(delays[-1])
        run = nd.simulate(
            system,
            system.state(q=self._hanging()),
            t1=last + self.t_after,
            dt=self.dt,
            method=StringVariational(nd.Implicit()),
            save_every=1,
            outputs={"observed": Observed(system)},
            progress=progress,
            throw=True,
        )
        return Move(system, run, last)

    def _hanging(self) -> np.ndarray:
        """The nodes of a cable at rest."""
        each = self.L0 / self.elements
        below = self.M + self.mu * each * (self.elements - 0.5 - np.arange(self.elements))
        return np.cumsum(each * (1.0 + below * self.g / self.EA))[:, None] * np.array((0.0, 0.0, 1.0))


def smooth_step(x: Any) -> Float[Array, ""]:
    """From 0 to 1 for x from 0 to 1, with no speed and no acceleration at the ends."""
    x = jnp.clip(x, 0.0, 1.0)
    return x**3 * (10.0 + x * (6.0 * x - 15.0))


class ShapedMove(AbstractSignal):
    """A move along the first axis: the same move in parts, each delayed, so that the swings they leave cancel."""

    distance: float
    duration: float
    weights: Float[Array | np.ndarray, " n"]
    delays: Float[Array | np.ndarray, " n"]

    def __call__(self, t: Scalar) -> Float[Array, "3"]:
        x = jnp.asarray(0.0)
        for weight, delay in zip(jnp.asarray(self.weights), jnp.asarray(self.delays), strict=True):
            x = x + weight * smooth_step((t - delay) / self.duration)
        return jnp.stack([self.distance * x, 0.0 * x, 0.0 * x])


class Hoist(AbstractSignal):
    """The length on the reel for a length outside that goes from one value to another."""

    total: float
    before: float
    after: float
    duration: float

    def __call__(self, t: Scalar) -> Float[Array, ""]:
        return self.total - self.before - (self.after - self.before) * smooth_step(t / self.duration)


class Observed(Module):
    """Energy, power, trolley, length outside, and tension at the trolley."""

    system: StringPendulum

    def __call__(self, state: nd.State, t: Any) -> Any:
        system = self.system
        s = system.wound(state.g, t)
        first = nd.strings.Span(system.outlet(t), jnp.asarray(state.g.q)[0], s)
        tension = system.law.tension(system.strain(first))
        return jnp.stack(
            [system.energy(state, t), system.power(state, t), system.outlet(t)[0], system.length - s, tension]
        )


@dataclasses.dataclass(frozen=True)
class Move(DrivenString):
    """A motion of the crane; `last` is when the trolley stops."""

    last: float

    @property
    def nodes(self) -> np.ndarray:
        """All nodes, the trolley first."""
        q = np.asarray(self.run.states.g.q)
        trolley = self.observed[:, 2, None, None] * np.array((1.0, 0.0, 0.0))
        return np.concatenate([trolley, q], axis=1)

    @property
    def swing(self) -> np.ndarray:
        """The angle of the payload seen from the trolley, in degrees."""
        way = self.nodes[:, -1] - self.nodes[:, 0]
        return np.degrees(np.arctan2(way[:, 0], way[:, 2]))

    def results(self) -> dict[str, Any]:
        """The numbers to report."""
        energy, power, _, _, tension = self.observed.T
        work = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(self.times) * (power[1:] + power[:-1]))])
        moment = self.moment()
        return {
            "t_stop": self.last,
            "peak_swing": float(np.max(np.abs(self.swing))),
            "residual_swing": float(np.max(np.abs(self.swing[self.times >= self.last]))),
            "tension_max": float(np.max(tension)),
            "moment_min": float(np.min(moment)),
            "moment_max": float(np.max(moment)),
            "energy_gain": float(energy[-1] - energy[0]),
            "energy_balance_error_max": float(np.max(np.abs(energy - energy[0] - work))),
        }


def comparison(rows: Mapping[str, Mapping[str, Any]]) -> Table:
    """The moves beside each other."""
    cells = ((name, *(f"{row[key]:.5g}" for key in COLUMNS)) for name, row in rows.items())
    return Table(("", *COLUMNS.values()), tuple(cells))


_UNITS = {
    "period": "s",
    "t_stop": "s",
    "peak_swing": "deg",
    "residual_swing": "deg",
    "tension_max": "N",
    "moment_min": "N m",
    "moment_max": "N m",
    "energy_gain": "J",
    "energy_balance_error_max": "J",
}

_NOTES = (
    "Swings in degrees, the largest over every step: `peak_swing` of the whole run, `residual_swing` after the trolley "
    "has stopped at `t_stop`. `moment_min` and `moment_max` [N m] are what the drum (radius 0.3 m, kappa 1 kg) needs "
    "to keep the cable to its length, positive where it pulls it in. `tension_max` [N] is the elastic tension at the "
    "trolley. `energy_balance_error_max` [J] is the largest |E - E_0 - work|, the work of trolley, hoist and internal "
    "damping by the trapezoidal rule. `period` [s] is that of small swings at the mean length."
)
