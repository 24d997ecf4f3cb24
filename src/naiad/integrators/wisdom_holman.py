"""Wisdom-Holman splitting of planets: Kepler's orbits about the heaviest body, and kicks by all the rest."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import Power, Rn
from naiad.integrators.kepler import kepler_flow
from naiad.integrators.method import AbstractMethod, StepInfo
from naiad.integrators.nystrom import KickCarry, check_separable, kick
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_KICKS
from naiad.numerics import reciprocal_root, static
from naiad.numerics.splittings import NEAR_INTEGRABLE

Bodies = Float[Array, "N 3"]


class Planets(NamedTuple):
    """Bodies in Jacobi's coordinates: the centre of mass, then each body relative to that of the bodies before it.
    Velocities and accelerations change as positions do."""

    m: Float[Array, " N"]
    total: Float[Array, " N"]
    """The mass of each body and those before it."""
    k: Float[Array, " N-1"]
    """The constants of the orbits."""

    @classmethod
    def of(cls, system: Any, state: State, t: Scalar) -> "Planets":
        """The bodies of a system; a momentum of unit velocities is a mass."""
        m = system.legendre(state.g, jnp.ones(system.group.dim), t)[::3]
        total = jnp.cumsum(m)
        return cls(m, total, system.G * total[1:])

    def relative(self, q: Bodies, weighed: Bodies) -> Bodies:
        """Jacobi's coordinates of positions, which are also given times the masses."""
        centres = jnp.cumsum(weighed, axis=0) * (1.0 / self.total)[:, None]
        return jnp.concatenate([centres[-1:], q[1:] - centres[:-1]])

    def per_mass(self, p: Bodies) -> Bodies:
        """The relative velocities of momenta, or accelerations of forces."""
        return self.relative(p * (1.0 / self.m)[:, None], p)

    def absolute(self, x: Bodies) -> Bodies:
        """Positions from Jacobi's coordinates."""
        shifts = (self.m / self.total)[1:, None] * x[1:]  # of the centre, by each body
        centres = x[:1] - jnp.cumsum(shifts[::-1], axis=0)[::-1]
        return jnp.concatenate([centres[:1], x[1:] + centres])

    def orbits(self, state: State) -> "Orbits":
        """A state in Jacobi's coordinates."""
        x = self.relative(state.g, self.m[:, None] * state.g)
        return Orbits(x, self.per_mass(state.mu.reshape(-1, 3)), reciprocal_root(jnp.sum(x[1:] ** 2, axis=1)))

    def drifted(self, at: "Orbits", dt: Scalar) -> tuple["Orbits", Bool[Array, ""]]:
        """Along the orbits for a time dt, and whether these were found."""
        (x, v, nearness), found = kepler_flow(at.x[1:], at.v[1:], at.nearness, self.k, dt)
        centre = at.x[:1] + dt * at.v[:1]
        return Orbits(jnp.concatenate([centre, x]), jnp.concatenate([at.v[:1], v]), nearness), found

    def pull(self, system: LagrangianSystem, at: "Orbits", t: Scalar) -> Bodies:
        """The acceleration that the orbits leave out."""
        whole = self.per_mass(kick(system, self.absolute(at.x), t).reshape(-1, 3))
        return whole.at[1:].add((self.k * at.nearness * at.nearness * at.nearness)[:, None] * at.x[1:])


class Orbits(NamedTuple):
    """Positions and velocities in Jacobi's coordinates, and 1/|x| of all but the centre of mass."""

    x: Bodies
    v: Bodies
    nearness: Float[Array, " N-1"]


class WisdomHolman(AbstractMethod):
    """Point masses of which the first is by far the heaviest, in Jacobi's coordinates: the exact motion of each along
    an orbit of Kepler, and kicks by what is left of the potential, in turn [wisdom1991].

    Where the planets' masses are epsilon times the sun's, the error of the energy is of the order of the terms in

        epsilon h^2                                    (2, 2): one orbit and one kick a step, the classical method,
        epsilon h^8 + epsilon^2 h^2                    (8, 2): five orbits and four kicks [laskar2001],
        epsilon h^10 + epsilon^2 h^6 + epsilon^3 h^4   (10, 6, 4): nine orbits and eight kicks [blanes2013].

    The system is a `PointMasses`, or one with `G` and a Lagrangian of the form that `Nystrom` takes on (R^3)^N: what
    its potential has besides gravity, and forces of g and t, are in the kicks. Bodies are best given in the order of
    their distances. A step of the method is symplectic and symmetric, and keeps linear and angular momentum.
    """

    orders: tuple[int, ...] = static(default=(10, 6, 4))

    honours = OF_KICKS

    def __post_init__(self):
        if self.orders not in NEAR_INTEGRABLE:
            known = ", ".join(map(str, NEAR_INTEGRABLE))
            raise InputError(f"WisdomHolman: orders = {self.orders!r}; expected one of {known}.")

    def check(self, system: LagrangianSystem) -> None:
        name, group = type(system).__name__, system.group
        spatial = isinstance(group, Power) and isinstance(group.base, Rn) and group.base.dim == 3 and group.count > 1
        if not spatial or not hasattr(system, "G"):
            raise InputError(
                f"WisdomHolman needs two or more point masses in space with a constant of gravity G, as PointMasses "
                f"has; {name} was given. Use Nystrom or Variational."
            )
        check_separable("WisdomHolman", system)
        M = execute(_inertia, system, parameters=(0,))
        m = np.diag(M)[::3]
        if np.any(np.kron(np.diag(m), np.eye(3)) != M):
            raise InputError(f"WisdomHolman needs a mass for each body; the inertia of {name} is not of this form.")
        if not m[0] > np.max(m[1:]):
            raise InputError(
                f"WisdomHolman needs the heaviest body first, for the others to move around; {name} has the masses "
                f"{', '.join(f'{each:.6g}' for each in m)}. Reorder them, or use Nystrom."
            )

    def order(self, system: LagrangianSystem) -> int:
        return self.orders[-1]

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> KickCarry:
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        drifts, kicks = NEAR_INTEGRABLE[self.orders]
        planets = Planets.of(system, state, t)
        pull = () if len(drifts) > len(kicks) else planets.pull(system, planets.orbits(state), t)
        return KickCarry(state, pull, StepInfo.explicit())

    def step(self, system: LagrangianSystem, carry: KickCarry, t: Scalar, h: Scalar, inputs: Any = None) -> KickCarry:
        state = carry.state
        drifts, kicks = map(np.array, NEAR_INTEGRABLE[self.orders])
        planets = Planets.of(system, state, t)
        first = at = planets.orbits(state)
        begins_with_drift = len(drifts) > len(kicks)
        if not begins_with_drift:
            at, kicks = at._replace(v=at.v + kicks[0] * h * carry.pull), kicks[1:]

        def stage(so_far, each):
            at, _, found = so_far
            drift, elapsed, strength = each
            at, found_here = planets.drifted(at, drift * h)
            pull = planets.pull(system, at, t + elapsed * h)
            return (at._replace(v=at.v + strength * h * pull), pull, found & found_here), None

        count = len(kicks)
        stages = (jnp.array(drifts[:count]), jnp.array(np.cumsum(drifts)[:count]), jnp.array(kicks))
        (at, pull, found), _ = jax.lax.scan(stage, (at, jnp.zeros_like(at.x), jnp.ones((), bool)), stages)
        if begins_with_drift:
            at, found_last = planets.drifted(at, drifts[-1] * h)
            found, pull = found & found_last, ()
        way = planets.absolute(at.x - first.x)  # by changes: rounding of the coordinates would add up
        push = planets.m[:, None] * planets.absolute(at.v - first.v)
        end = State(state.g + way, state.mu + push.reshape(-1))
        return KickCarry(end, pull, StepInfo.explicit()._replace(converged=found))


def _inertia(system: LagrangianSystem) -> Float[Array, "n n"]:
    return jax.jacfwd(lambda xi: system.legendre(system.group.identity(), xi))(jnp.zeros(system.group.dim))
