"""Several bodies in water that feel each other through it."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE3, SO3, AbstractGroup, Pose, Power
from naiad.hydro import AbstractShape, Plane, SpatialBodies, mass_properties
from naiad.mechanics import LagrangianSystem, Picture, Scalar, State
from naiad.models.solid_shape import Solid, solid_of, solid_shape
from naiad.numerics import solve_in_loops, static, vee
from naiad.numerics.checks import floats, is_known, positive, semidefinite_inertia, vector


class SubmergedBodies(LagrangianSystem):
    """Rigid bodies in an ideal fluid on SE(3)^N, xi_i = (Omega_i, v_i) in the body frames:

        ell = sum_i (xi_i . K_i xi_i / 2 + gravity . (m_i x_G,i - m_d,i x_B,i)) + xi . M(g) xi / 2,

    K_i the inertia of body i itself, m_i its mass at x_G,i, m_d,i the mass of water that it displaces, at x_B,i, and
    M(g) the inertia of the water, which couples all of them (see `naiad.hydro.SpatialBodies`).

    `dry` has a 6 x 6 matrix for each body (see `naiad.hydro.rigid_inertia`), or is one for all. `displaced` and
    `centres` are the volumes' masses and centres in the body frames. The motion is invariant under rigid motions of the
    whole, if there is no gravity and no plane; with them, under turns about and shifts along the level.

    A run ends before two bodies, or one and the plane, are nearer than `least` (see `gap`): what they do to each other
    is not resolved where they nearly touch. With `least` 0 it goes on until they do, also where a start would be
    refused for that (a `flux_error` of the fluid over 0.02).
    """

    fluid: SpatialBodies
    dry: Float[Array | np.ndarray, "N 6 6"]
    displaced: Float[Array | np.ndarray, " N"]
    centres: Float[Array | np.ndarray, "N 3"]
    gravity: Float[Array | np.ndarray, "3"]
    least: Scalar
    solids: tuple[Solid, ...] | None
    group: AbstractGroup = static()
    symmetry_dim = 6
    definite = True
    limit_words = (
        "Two bodies, or one and the plane, touch or overlap, or are nearer to each other than `least`; move them "
        "apart, end the run before, or give less."
    )

    def __init__(
        self,
        fluid: SpatialBodies,
        dry: Any,
        *,
        displaced: Any,
        centres: Any = None,
        gravity: Any = None,
        least: Scalar = 0.0,
    ):
        count = fluid.count
        self.fluid, self.dry = fluid, _matrices(dry, count)
        self.displaced = floats("displaced", displaced)
        self.centres = np.zeros((count, 3)) if centres is None else floats("centres", centres)
        if self.displaced.shape != (count,) or self.centres.shape != (count, 3):
            raise InputError(
                f"displaced has shape {self.displaced.shape}, centres {self.centres.shape}; expected {count} masses "
                f"and {count} rows (x, y, z)."
            )
        self.gravity = vector("gravity", (0.0, 0.0, 0.0) if gravity is None else gravity)
        self.least = positive("least", least, zero=True)
        self.solids = None
        self.group = Power(SE3(), count)

    @classmethod
    def from_shapes(
        cls,
        shapes: Sequence[AbstractShape],
        density: float,
        *,
        dry: Any = None,
        gravity: Any = None,
        plane: Plane | None = None,
        degree: int = 8,
        points: int | None = None,
        least: Scalar = 0.0,
    ) -> Self:
        """Bodies of these shapes in a fluid of this density, with their own inertias `dry` about the origins of the
        shapes' frames; without them homogeneous, of the fluid's density. The rest is that of `SpatialBodies`."""
        shapes = [solid_shape(shape) for shape in shapes]
        fluid = SpatialBodies(shapes, density, plane=plane, degree=degree, points=points)
        bodies = cls(
            fluid,
            [shape.inertia(density) for shape in shapes] if dry is None else dry,
            displaced=[shape.displaced_mass(density) for shape in shapes],
            centres=[shape.centre for shape in shapes],
            gravity=gravity,
            least=least,
        )
        return bodies.replaced(solids=tuple(solid_of(shape) for shape in shapes))

    def state(self, g: Any = None, xi: Any = None, mu: Any = None, *, t: Scalar = 0.0, **components: Any) -> State:
        """A checked state (see `LagrangianSystem.state`) of bodies that do not touch."""
        state = super().state(g, xi, mu, t=t, **components)
        if all(map(is_known, jax.tree.leaves((self, state)))):
            self.fluid.flux_error(state.g)
        return state

    def lagrangian(self, g: Pose, xi: Float[Array, " 6N"], t: Scalar) -> Float[Array, ""]:
        """Kinetic energies less the potential."""
        rows = jnp.reshape(xi, (-1, 6))
        own = 0.5 * jnp.sum(rows * jnp.einsum("nij,nj->ni", jnp.asarray(self.dry), rows))
        return own + self.fluid.added_energy(g, xi) - self.potential_energy(g)

    def potential_energy(self, g: Pose) -> Float[Array, ""]:
        """- gravity . sum_i (m_i x_G,i - m_d,i x_B,i): of weight and buoyancy."""
        dry, displaced = jnp.asarray(self.dry), jnp.asarray(self.displaced)
        masses = dry[:, 3, 3] - displaced
        moments = jax.vmap(vee)(dry[:, :3, 3:]) - displaced[:, None] * jnp.asarray(self.centres)
        lever = masses @ g.x + jnp.einsum("nij,nj->i", jnp.asarray(g.R), moments)
        return -lever @ jnp.asarray(self.gravity)

    def inertia(self, g: Pose) -> Float[Array, "6N 6N"]:
        """That of the bodies and the water, K + M(g)."""
        return self._own() + self.fluid.added_inertia(g)

    def near_inertia(self, g: Pose, t: Scalar) -> Float[Array, "6N 6N"]:
        """The same to first order in what bodies do to each other."""
        return self._own() + self.fluid.leading_inertia(g)

    def velocity(self, g: Pose, mu: Float[Array, " 6N"], t: Scalar = 0.0) -> Float[Array, " 6N"]:
        """(K + M(g))^-1 mu."""
        return solve_in_loops(self.inertia(g), mu[:, None])[:, 0]

    def energy(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """mu . (K + M(g))^-1 mu / 2, and the potential energy."""
        return 0.5 * state.mu @ self.velocity(state.g, state.mu, t) + self.potential_energy(state.g)

    def gap(self, g: Pose) -> Any:
        """The smallest distance between two bodies, or from the plane (see `SpatialBodies.gap`)."""
        return self.fluid.gap(g)

    def limit(self, g: Pose, t: Scalar, h: Scalar) -> Float[Array, ""]:
        """By how much the gap is above the smallest one."""
        return self.gap(g) - jnp.asarray(self.least)

    @property
    def picture(self) -> Picture:
        """The shapes, under gravity."""
        down = self.gravity if np.any(self.gravity) else None
        if self.solids is None:
            return Picture(down=down)
        shapes, centres = [each.drawn for each in self.solids], [each.centre for each in self.solids]
        return Picture(down=down, shapes=shapes, centres=centres)

    def rigid_motions(self, s: Float[Array, "6"], g: Pose) -> Pose:
        """Turns of the whole about the origin, and shifts."""
        move = SE3().exp(s)
        return jax.vmap(lambda pose: SE3().compose(move, pose))(g)

    def level_motions(self, s: Float[Array, "6"], g: Pose) -> Pose:
        """Of the turns and shifts s those that leave gravity and the plane alone: turns about the vertical (or the
        normal), if there is one only, and level shifts."""
        a, b = _directions(self.gravity, self.fluid.plane)
        across = jnp.cross(a, b)
        square = across @ across
        along = across / jnp.sqrt(jnp.where(square > 0.0, square, 1.0))
        parallel = square < 1e-20
        axis = jnp.where(a @ a > 0.0, a, b)
        turn = SO3().exp(jnp.where(parallel, s[:3] @ axis, 0.0) * axis)
        level = jnp.where(parallel, s[3:] - (s[3:] @ axis) * axis, (s[3:] @ along) * along)
        return Pose(jnp.einsum("ij,njk->nik", turn, g.R), g.x @ turn.T + level)

    @property
    def symmetry(self) -> Callable[..., Any]:
        """`rigid_motions`, or with gravity or a plane `level_motions`."""
        free = is_known(self.gravity) and not np.any(self.gravity) and self.fluid.plane is None
        return self.rigid_motions if free else self.level_motions

    def _own(self) -> Float[Array, "6N 6N"]:
        dry = jnp.asarray(self.dry)
        rows = [jnp.pad(each, ((0, 0), (6 * k, 6 * (len(dry) - 1 - k)))) for k, each in enumerate(dry)]
        return jnp.concatenate(rows)


def _directions(gravity: Any, plane: Plane | None) -> tuple[Any, Any]:
    """Unit vectors along gravity and the normal of the plane, zero where there is none."""
    gravity = jnp.asarray(gravity)
    square = gravity @ gravity
    down = gravity / jnp.sqrt(jnp.where(square > 0.0, square, 1.0))
    return down, jnp.zeros(3) if plane is None else jnp.asarray(plane.normal)


def _matrices(dry: Any, count: int) -> np.ndarray:
    given = floats("dry", dry)
    if given.shape == (6, 6):
        given = np.broadcast_to(given, (count, 6, 6))
    if given.shape != (count, 6, 6):
        raise InputError(
            f"dry has shape {given.shape}; expected a 6 x 6 matrix for all, or one for each of {count} bodies."
        )
    for k, each in enumerate(given):
        semidefinite_inertia(f"dry[{k}]", each, 6)
        mass_properties(each)
    return np.array(given)
