"""The problems of the verification: nonlinear systems on every group, each written with its Lagrangian alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.locomotion import DrivenSwimmer, three_link_fish
from tests.trees.trees import HeavyBodies, random_state, random_tree


@dataclass(frozen=True)
class Problem:
    """A system, where it starts, how long it runs, an action s -> (g -> s.g) that it is symmetric under, and how many
    times finer than usual its steps must be before a low order shows."""

    system: nd.LagrangianSystem
    state: nd.State
    t1: float
    action: Callable[[Any, Any], Any] | None = None
    conservative: bool = True
    refinement: int = 1

    @property
    def scale(self) -> float:
        """The size of the terms whose sum is the momentum: what its round-off is relative to."""
        return float(np.linalg.norm(self.state.mu))


def about_vertical(s):
    return nd.SO3().exp(s[0] * jnp.array([0.0, 0.0, 1.0]))


class HeavyTop(nd.LagrangianSystem):
    J: Any
    mgl: float
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ self.J @ Omega - self.mgl * R[2, 2]


class DoubleSphericalPendulum(nd.LagrangianSystem):
    """Two rigid rods, the second hanging on the first: the kinetic energy couples the attitudes."""

    J1: Any
    J2: Any
    m1: float
    m2: float
    l1: float
    l2: float
    gravity: float
    group = nd.Product(R1=nd.SO3(), R2=nd.SO3())

    def lagrangian(self, g, xi, t):
        Omega1, Omega2 = self.group.split(xi)
        a, b = jnp.array([0.0, 0.0, -self.l1]), jnp.array([0.0, 0.0, -self.l2])
        v1 = g.R1 @ jnp.cross(Omega1, a)
        v2 = v1 + g.R2 @ jnp.cross(Omega2, b)
        kinetic = Omega1 @ self.J1 @ Omega1 + Omega2 @ self.J2 @ Omega2 + self.m1 * v1 @ v1 + self.m2 * v2 @ v2
        heights = (self.m1 + self.m2) * (g.R1 @ a)[2] + self.m2 * (g.R2 @ b)[2]
        return 0.5 * kinetic - self.gravity * heights


class BodyInPotential(nd.LagrangianSystem):
    """A rigid body on SE(3) pulled to the origin at one of its own points: position and attitude are coupled."""

    J: Any
    m: float
    k: float
    r: Any
    group = nd.SE3()

    def lagrangian(self, g, xi, t):
        Omega, v = self.group.split(xi)
        point = g.x + g.R @ self.r
        return (
            0.5 * (Omega @ self.J @ Omega + self.m * v @ v) - 0.5 * self.k * point @ point - 0.1 * (point @ point) ** 2
        )


class PlanarBody(nd.LagrangianSystem):
    """A body on SE(2) with different masses along its axes, in a potential of position and heading."""

    inertia: Any
    k: float
    group = nd.SE2()

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ (self.inertia * xi) - 0.5 * self.k * g.x @ g.x - 0.3 * jnp.cos(g.beta)


class RigidBodyN(nd.EulerPoincareSystem):
    """The free rigid body in n dimensions."""

    inertia: Any
    group: nd.SOn

    def reduced_lagrangian(self, xi):
        return 0.5 * xi @ (self.inertia * xi)


class DrivenPendulum(nd.LagrangianSystem):
    """A pendulum on the circle with a moving frequency and friction: time and forces at once."""

    damping: float
    group = nd.SO2()

    def lagrangian(self, beta, xi, t):
        return 0.5 * xi[0] ** 2 + (1.0 + 0.3 * jnp.sin(2.0 * t)) * jnp.cos(beta)

    def force(self, beta, xi, t):
        return -self.damping * xi + 0.2 * jnp.cos(t)


class Anharmonic(nd.LagrangianSystem):
    """A particle in the plane in a Henon-Heiles potential."""

    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        x, y = q
        return 0.5 * v @ v - 0.5 * (x**2 + y**2) - x**2 * y + y**3 / 3.0


class RotorChain(nd.LagrangianSystem):
    """Rigid rotors in a row, each coupled to its neighbours' attitudes: a power of SO(3)."""

    J: Any
    k: float
    group = nd.Power(nd.SO3(), 3)

    def lagrangian(self, R, xi, t):
        Omega = self.group.stack(xi)
        alignment = jnp.sum(R[1:, :, 2] * R[:-1, :, 2]) + 0.5 * R[0, 2, 2]
        return 0.5 * jnp.sum(Omega * (Omega @ self.J)) + self.k * alignment


class BallOnASphere(nd.LagrangianSystem):
    """A particle held on the unit sphere by a constraint, with weight and a spring."""

    m: float
    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        return 0.5 * self.m * v @ v - 1.2 * q[2] - 0.4 * q[2] ** 2

    def constraint(self, q, t):
        return 0.5 * (q @ q - 1.0)


def hanging_string(*, reel: bool, stiffness: Any = 8.0) -> tuple[nd.models.StringPendulum, nd.State]:
    """A string of three elements with a body, of a fixed length or on a reel that turns freely, moving in all ways."""
    rng = np.random.default_rng(3)
    inertia = np.array([[0.06, -0.004, -0.006], [-0.004, 0.07, -0.005], [-0.006, -0.005, 0.03]])
    string = nd.models.StringPendulum(
        length=4.0,
        mass_per_length=0.4,
        stiffness=stiffness,
        elements=3,
        gravity=(0.0, 0.0, 2.0),
        body=nd.models.HangingBody(0.5, (0.1, 0.05, 0.15), inertia),
        reel=nd.models.Reel(radius=0.3, inertia=0.5, guide=0.2, carnot="none", locked=not reel),
        wound=0.0 if reel else 1.5,
    )
    q = np.outer(np.arange(1, 4), np.array((0.5, 0.15, 0.65))) + 0.05 * rng.normal(size=(3, 3))
    v = 0.3 * rng.normal(size=(3, 3))
    if string.constraint is not None:  # each element turns about its upper end
        d = np.diff(q, axis=0, prepend=0.0)
        d *= string.element_length(1.5) / np.linalg.norm(d, axis=1)[:, None]
        q, v = np.cumsum(d, axis=0), np.cumsum(np.cross(v, d), axis=0)
    more = {"s": [1.5], "s_v": [0.3]} if reel else {}
    return string, string.state(q=q, q_v=v, R_Omega=(0.3, -0.5, 0.4), **more)


def problems() -> dict[str, Problem]:
    rng = np.random.default_rng(7)
    J = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, -0.2], [0.0, -0.2, 2.6]])
    turned = nd.SO3().random(rng)
    free = nd.models.RigidBody(J)
    quaternion = nd.models.RigidBody(J, group=nd.S3())
    vehicle = nd.models.KirchhoffBody((1.47, 7.03, 4.8), (4.7, 5.9, 10.5), 0.2 * np.arange(9.0).reshape(3, 3) / 9)
    top = HeavyTop(J, 1.3)
    rods = DoubleSphericalPendulum(np.diag([0.3, 0.3, 0.1]), np.diag([0.2, 0.25, 0.1]), 1.0, 0.7, 0.8, 0.6, 2.0)
    pulled = BodyInPotential(J, 1.5, 2.0, np.array([0.3, -0.1, 0.2]))
    planar = PlanarBody(np.array([1.0, 1.0, 2.5]), 1.2)
    hanging = HeavyBodies(random_tree((-1, 0), root="pinned"), np.array([2.0, 1.0]), 0.5)
    fish = DrivenSwimmer(three_link_fish(1.0, 0.4, 0.3, fluid=1.0, density=0.5), stiffness=(2.0, 1.5), rest=(0.2, -0.1))
    rotors = RotorChain(np.diag([1.0, 1.3, 0.8]), 0.7)
    many = RigidBodyN(np.linspace(1.0, 3.0, 10), nd.SOn(5))
    tilted = np.asarray(nd.SO3().exp(np.array([0.8, 0.0, 0.0])))
    buoyant = nd.models.BuoyantVehicle(
        1.5, (1.0, 2.0, 0.5), J, 4.0, (0.2, -0.1, 0.3), gravity=(0.0, 0.0, 2.0), current=(0.0, 0.0, 0.3)
    )

    string, string_state = hanging_string(reel=False)
    reeled, reeled_state = hanging_string(reel=True)
    links, links_state = hanging_string(reel=False, stiffness=nd.models.Inextensible())
    ball = BallOnASphere(1.4)
    planets = nd.models.PointMasses((1.0, 0.1, 0.05))

    def turn_pose(s, g):
        R = about_vertical(s)
        return type(g)(R @ g.R, R @ g.x)

    return {
        "free-body": Problem(free, free.state(R=turned, Pi=(0.7, 0.8, -1.5)), 2.0),
        "free-body-s3": Problem(quaternion, quaternion.state(q=nd.S3().random(rng), Pi=(0.7, 0.8, -1.5)), 2.0),
        "free-body-so5": Problem(many, many.state(Omega=0.4 * rng.standard_normal(10)), 4.0),
        "vehicle": Problem(vehicle, vehicle.state(R=turned, Omega=(0.5, 0.4, -0.3), v=(0.5, -0.2, 0.4)), 2.0),
        "heavy-top": Problem(top, top.state(R=turned, Omega=(0.5, 0.2, 1.0)), 2.0, lambda s, R: about_vertical(s) @ R),
        "double-pendulum": Problem(
            rods,
            rods.state(R1=tilted, R2=tilted.T, R1_Omega=(0.3, 0.4, 0.1), R2_Omega=(0.1, -0.5, 0.2)),
            1.0,
            lambda s, g: type(g)(about_vertical(s) @ g.R1, about_vertical(s) @ g.R2),
            refinement=2,
        ),
        "body-in-potential": Problem(
            pulled,
            pulled.state(R=turned, x=(0.5, 0.3, -0.2), Omega=(0.3, 0.5, 0.2), v=(0.2, -0.4, 0.1)),
            1.5,
            turn_pose,
        ),
        "buoyant-vehicle": Problem(
            buoyant,
            buoyant.state(R=turned, q=(0.5, 0.3, -0.2), R_Omega=(0.3, 0.5, 0.2), q_v=(0.2, -0.4, 0.6)),
            1.5,
            lambda s, g: type(g)(about_vertical(s) @ g.R, about_vertical(s) @ g.q),
        ),
        "tree": Problem(
            hanging,
            random_state(hanging, size=0.5),
            1.0,
            lambda s, g: g._replace(R=about_vertical(s) @ g.R),
        ),
        "swimmer": Problem(
            fish,
            fish.start((0.6, -0.5), (0.8, 0.4), momentum=(1.0, 0.5, -0.3)),
            2.0,
            lambda s, g: fish.symmetry(jnp.concatenate([s, 0.5 * s, -s]), g),
        ),
        "string": Problem(string, string_state, 1.0, string.symmetry),
        "string-reel": Problem(reeled, reeled_state, 1.0, reeled.symmetry, refinement=2),
        "string-inextensible": Problem(links, links_state, 1.0, links.symmetry),
        "ball-on-a-sphere": Problem(
            ball,
            ball.state(q=(0.6, 0.0, 0.8), v=(0.4, 0.5, -0.3)),
            2.0,
            lambda s, q: about_vertical(s) @ q,
            refinement=4,
        ),
        "planar-body": Problem(planar, planar.state(beta=0.4, x=(0.5, -0.3), Omega=0.7, v=(0.3, 0.2)), 2.0),
        "rotor-chain": Problem(
            rotors,
            rotors.state(R=np.stack([nd.SO3().random(rng) for _ in range(3)]), Omega=0.6 * rng.standard_normal((3, 3))),
            1.5,
            lambda s, R: about_vertical(s) @ R,
        ),
        "henon-heiles": Problem(Anharmonic(), Anharmonic().state(q=(0.3, 0.2), v=(0.2, -0.3)), 3.0, refinement=2),
        "planets": Problem(
            planets,
            planets.state(
                q=((0.0, 0.0, 0.0), (1.0, 0.0, 0.1), (-0.3, 2.0, 0.0)),
                v=((0.0, -0.04, 0.0), (0.0, 1.0, 0.2), (-0.75, 0.0, 0.1)),
            ),
            3.0,
            lambda s, q: q @ about_vertical(s).T,
            refinement=2,
        ),
        "driven-pendulum": Problem(
            DrivenPendulum(0.15), DrivenPendulum(0.15).state(beta=1.0, Omega=0.5), 3.0, conservative=False
        ),
    }


PROBLEMS = problems()
