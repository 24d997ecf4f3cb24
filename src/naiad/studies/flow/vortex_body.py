"""A body among point vortices."""

from typing import Any

import jax.numpy as jnp

import naiad as nd
from naiad.errors import InputError
from naiad.hydro import Ellipse, Vortices
from naiad.models import VortexBody as Body
from naiad.numerics.checks import namespace
from naiad.studies.flow import vortex_figures
from naiad.studies.limited_run import limited_run
from naiad.studies.live import LivePage
from naiad.studies.methods import CHOICES, method
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

METHODS = {name: CHOICES[name] for name in ("cay", "exp", "compose4", "compose6", "compose8", "rkmk4")}
SHAPES = {
    "circle": "a circle of radius a",
    "ellipse": "an ellipse with the semi-axes a and b",
    "plate": "a flat plate of half length a, which sheds",
}
SHEDDING = {"none": "the vortices are those given", "edge": "vortices leave the edge at -e_1, by Kutta's condition"}


class VortexBody(Study, name="vortex-body"):
    """A body among point vortices: a free circle or ellipse, vortices, circulation, and what they keep.

    Body and vortices move each other through an ideal fluid. Energy, linear and angular impulse of the whole are
    conserved; a variational step keeps the impulses to round-off. Föppl's pair keeps its place behind a circle that
    moves at 1 m/s: `gamma=-8.83572934,8.83572934 at=1.85404962,0.75,1.85404962,-0.75 xi=0,-1,0 pose=0,0,0`. With
    circulation alone, `gamma=none at=none circulation=2 xi=0,1,0`, a circle goes round at rho Gamma/(m + rho pi a^2). A
    run ends where a vortex comes too near the wall or another one for its step: `ending` says so, and what was computed
    until then is reported.

    With `shedding=edge` a plate or an ellipse sheds a vortex at each step, and is pushed across by heave cos(rate t):
    the impulse of body, fluid and wake changes by that of the push alone, also where a vortex is shed; energy does not
    stay. A plate that is heaved gains speed: `shape=plate shedding=edge heave=3 I=50 m=1 pose=0,0,0 xi=0,1,0 gamma=none
    at=none`.
    """

    paper = "B. N. Shashikanth, J. E. Marsden, J. W. Burdick, S. D. Kelly, Physics of Fluids 14, 2002"

    shape: str = parameter("circle", choices=SHAPES, help="outline of the body")
    a: float = parameter(1.0, unit="m", above=0.0, help="radius, or semi-axis along e_1")
    b: float = parameter(0.5, unit="m", above=0.0, help="semi-axis of an ellipse along e_2")
    m: float = parameter(2.0, unit="kg/m", at_least=0.0, help="mass of the body, for a unit of its length")
    I: float = parameter(0.7, unit="kg m", at_least=0.0, help="moment of inertia, for a unit of length")  # noqa: E741
    rho: float = parameter(1.0, unit="kg/m^3", above=0.0, help="density of the fluid")
    pose: Vector = parameter((0.3, 0.2, -0.1), unit="rad, m, m", size=3, help="initial angle and place (beta, x, y)")
    xi: Vector = parameter(
        (0.2, 0.1, -0.3), unit="rad/s, m/s, m/s", size=3, help="initial velocity (Omega, v_x, v_y) in the body"
    )
    gamma: Vector | None = parameter(
        (1.0, -1.0), unit="m^2/s", help="strengths of the vortices, counterclockwise (none: no vortex)"
    )
    at: Vector | None = parameter((2.0, 1.0, -1.5, 1.4), unit="m", help="their places in space, x1,y1,x2,y2,...")
    circulation: float = parameter(0.0, unit="m^2/s", help="circulation around the body")
    shedding: str = parameter("none", choices=SHEDDING, help="whether the body sheds vortices")
    heave: float = parameter(
        0.0, unit="N/m", help="with shedding, the force across, along y in space, heave cos(rate t)"
    )
    rate: float = parameter(3.0, unit="rad/s", above=0.0, help="rate of that force")
    t1: float = parameter(10.0, unit="s", above=0.0, help="duration")
    dt: float = parameter(0.05, unit="s", above=0.0, help="time step")
    method: str = parameter("compose6", choices=METHODS, help="integrator")

    def system(self) -> Body:
        """Body and vortices."""
        outline = Ellipse(self.a, self.a if self.shape == "circle" else self.b)
        strengths = () if self.gamma is None else self.gamma
        vortices = Vortices(strengths, outline, circulation=self.circulation, density=self.rho)
        return Body(vortices, namespace(self.m, self.I).stack([self.I, self.m, self.m]))

    def start(self, system: Body) -> nd.State:
        """Where they begin."""
        return system.start(self.at, self.pose, self.xi)

    def validate(self) -> None:
        if self.shedding == "edge":
            if self.shape == "circle":
                raise InputError("shedding=edge: a circle has no edge; give shape=plate or shape=ellipse")
        elif self.shape == "plate" or self.heave:
            raise InputError("shape=plate and heave are there with shedding=edge only")
        else:
            self.start(self.system())
        if self.t1 < self.dt:
            raise InputError(f"t1 = {self.t1:g} is less than a step of dt = {self.dt:g}")

    def live(self) -> LivePage:
        """One throws vortices at the body: a click in the scene puts the farthest pair there, aimed at the body."""

        def build(study: VortexBody) -> tuple[Body, nd.State]:
            system = study.system()
            return system, study.start(system)

        sliders: dict[str, Any] = {
            "m": (0.1, 10.0),
            "I": (0.05, 5.0),
            "a": (0.3, 2.0),
            **({"b": (0.2, 2.0)} if self.shape == "ellipse" else {}),
            "gamma": (-5.0, 5.0),
            "circulation": (-5.0, 5.0),
            "xi": (-1.0, 1.0),
            "gap": Slider(0.1, 2.0, 0.6, "m", help="between the two vortices that a click throws at the body"),
        }
        thrown = None if self.gamma is None else throw
        return LivePage(build, sliders, {METHODS["cay"]: method("cay")}, 0.02, 15.0, touch=thrown)

    def run(self, progress: Progress) -> Findings:
        if self.shedding == "edge":
            from naiad.studies.flow.vortex_shedding import shedding_findings

            return shedding_findings(self)
        system = self.system()
        state = self.start(system)
        run = limited_run(system, state, t1=self.t1, dt=self.dt, method=method(self.method), progress=progress)
        body, places = vortex_figures.parts(system, run.states.g)
        results = {
            "pose": body[-1],
            "vortices": places[-1].ravel(),
            "energy": float(run.energy[-1]),
            "impulse": run.momentum.to_numpy()[-1],
            "energy_error_max": run.monitors["energy"].largest,
            "momentum_error_max": run.monitors["momentum"].largest,
            "t": float(run.t[-1]),
            "ending": run.ending,
        }
        figures = vortex_figures.figures(run, body, places)
        return Findings(results, lambda: run.dataset, figures, notes=_NOTES, units=_UNITS)


def throw(system: Body, state: nd.State, x: Any, y: Any, gap: Any) -> nd.State:
    """Two vortices, one after the other, of which the first is the farthest from the body, put at a point on both sides
    of the way to the body; a single one at the point. The velocity of the body stays."""
    pose, q = system.parts(state.g)
    here, xi = jnp.stack([x, y]), system.velocity(state.g, state.mu)
    count = system.vortices.count
    first = 2 * jnp.argmax(jnp.sum((q[::2] - pose.x) ** 2, axis=1))
    way = pose.x - here
    across = 0.5 * gap * jnp.stack([-way[1], way[0]]) / jnp.sqrt(way @ way)
    strengths = jnp.asarray(system.vortices.gamma)
    left = jnp.where(strengths[first] > 0.0, 1.0, -1.0)  # with a clockwise one on its right a pair flies ahead
    number = jnp.arange(count)[:, None]
    alone = first == count - 1
    one = jnp.where(alone, here, here + left * across)
    q = jnp.where(number == first, one, jnp.where(number == first + 1, here - left * across, q))
    g = state.g._replace(vortex=q)
    return nd.State(g, system.legendre(g, xi))


_UNITS = {
    "pose": "rad, m, m",
    "vortices": "m",
    "energy": "J/m",
    "impulse": "kg m/s, kg/s, kg/s",
    "t": "s",
}

_NOTES = (
    "`pose` is (beta, x, y) and `vortices` are x1,y1,x2,y2,... at the time `t`, where the run ended; `impulse` is the "
    "angular impulse about the origin and the linear one, of body, fluid and vortices. The energy has no zero: it "
    "leaves out the infinite part of each vortex. Streamlines are those of one instant, with the fluid at rest far "
    "away."
)
