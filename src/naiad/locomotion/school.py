"""Several swimmers of space beside each other and beside what stands in the water, all coupled by the fluid."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE3, AbstractGroup, Pose, Power
from naiad.hydro import AbstractShape, SpatialBodies
from naiad.hydro.spatial.alike import alike
from naiad.hydro.spatial.sheet import SmoothSheet
from naiad.locomotion.checks import check_free
from naiad.locomotion.gait import AbstractGait
from naiad.locomotion.swimmer import Swimmer
from naiad.mechanics import LagrangianSystem, Picture, Scalar, State
from naiad.numerics import Module, solve, static
from naiad.numerics.checks import positive


class SchoolPlaces(Module):
    """All links, and what stands in the water, in place of the bases."""

    school: "School"

    def __call__(self, g: Any, t: Scalar) -> dict[str, Any]:
        poses = self.school.moving(g, t).poses
        return {"x": poses.x, "R": poses.R}


class Moving(NamedTuple):
    """Poses of all links in space, obstacles last, and their velocities in their own frames, B xi + b."""

    poses: Pose
    B: Float[Array, "l n"]
    b: Float[Array, " l"]


class School(LagrangianSystem):
    """Swimmers with the shapes theta_f(t) of their gaits, coupled by the fluid, on SE(3)^F:

        ell = V . (M_own + M(g, theta)) V / 2,   V = B(theta) xi + b(theta, theta'),

    xi the velocities of the bases and V those of all links, each in its own frame; M(g, theta) is the inertia of the
    fluid around all of them (`naiad.hydro.SpatialBodies`). `obstacles` are shapes `placed` in space, which stay there.

    `swimmers` are coupled ones of space (`spatial_swimmer(..., coupled=True)`) in one fluid; `gaits` is one for all or
    one for each. `degree` and `points` are those of the obstacles. Without obstacles the momentum of the whole in space
    is kept, whatever the gaits do; they give and take energy. A run ends before bodies are nearer than `least`.
    """

    swimmers: tuple[Swimmer, ...]
    gaits: tuple[AbstractGait, ...]
    fluid: SpatialBodies
    fixed: int = static()
    least: Scalar
    group: AbstractGroup = static()
    symmetry_dim = 6
    definite = True
    limit_words = "Two links, or one and an obstacle, touch or overlap, or are nearer than `least`; move them apart."

    def __init__(
        self,
        swimmers: Sequence[Swimmer],
        gaits: AbstractGait | Sequence[AbstractGait],
        *,
        obstacles: Sequence[AbstractShape] = (),
        degree: int = 8,
        points: int | None = None,
        least: Scalar = 0.0,
    ):
        self.swimmers = tuple(swimmers)
        for each in self.swimmers:
            check_free(each)
        fluids = [each.fluid for each in self.swimmers if isinstance(each.fluid, SpatialBodies)]
        if not fluids or len(fluids) != len(self.swimmers):
            raise InputError("School: expected one or more swimmers of space, each made with coupled=True.")
        first = fluids[0]
        if any(each.density != first.density for each in fluids):
            raise InputError(f"School: swimmers in fluids of the densities {[each.density for each in fluids]}.")
        self.gaits = (gaits,) * len(fluids) if isinstance(gaits, AbstractGait) else tuple(gaits)
        if len(self.gaits) != len(fluids):
            raise InputError(f"School: {len(self.gaits)} gaits for {len(fluids)} swimmers; expected one, or as many.")
        standing = SpatialBodies(obstacles, degree=degree, points=points).sheets if obstacles else ()
        links = tuple(sheet for each in fluids for sheet in each.sheets)
        self.fluid = SpatialBodies.unchecked(groups=alike(links + standing), density=first.density, plane=None)
        self.fixed = len(standing)
        self.least = positive("least", least, zero=True)
        self.group = Power(SE3(), len(fluids))

    def start(self, x: Any, R: Any = None, t: Scalar = 0.0) -> State:
        """The state at the moment in which the gaits begin, from rest: the bases at rows x, with the attitudes R (not
        turned). No swimmer has a momentum: what its joints do is within it."""
        count = len(self.swimmers)
        x = np.asarray(x, float)
        R = np.tile(np.eye(3), (count, 1, 1)) if R is None else np.asarray(R, float)
        if x.shape != (count, 3) or R.shape != (count, 3, 3):
            raise InputError(f"School: x of shape {x.shape}, R of {R.shape}; expected {count} rows x and attitudes R.")
        state = self.state(g=Pose(jnp.asarray(R), jnp.asarray(x)), mu=np.zeros(6 * count), t=t)
        self.fluid.flux_error(jax.tree.map(np.asarray, self.moving(state.g, t).poses))  # says so if they touch
        return state

    def moving(self, g: Pose, t: Scalar) -> Moving:
        """Where all links are, and how they move."""
        poses, blocks, given, count = [], [], [], len(self.swimmers)
        for k, (swimmer, gait) in enumerate(zip(self.swimmers, self.gaits, strict=True)):
            motion, base = gait.motion(t), Pose(jnp.asarray(g.R)[k], jnp.asarray(g.x)[k])
            poses += [SE3().compose(base, pose) for pose in swimmer.links.poses(motion.theta)]
            J = swimmer.links.jacobian(motion.theta)
            J = J.reshape(-1, J.shape[2])
            blocks.append(jnp.pad(J[:, :6], ((0, 0), (6 * k, 6 * (count - 1 - k)))))
            given.append(J[:, 6:] @ motion.rates)
        poses += [SE3().identity()] * self.fixed
        stacked = Pose(*(jnp.stack([jnp.asarray(part) for part in parts]) for parts in zip(*poses, strict=True)))
        still = 6 * self.fixed
        return Moving(
            stacked, jnp.pad(jnp.concatenate(blocks), ((0, still), (0, 0))), jnp.pad(jnp.concatenate(given), (0, still))
        )

    def lagrangian(self, g: Pose, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """The kinetic energy of links and fluid."""
        there = self.moving(g, t)
        V = there.B @ xi + there.b
        return 0.5 * V @ self._own() @ V + self.fluid.added_energy(there.poses, V)

    def near_inertia(self, g: Pose, t: Scalar) -> Float[Array, "n n"]:
        """That of the bases to first order in what links do to each other."""
        there = self.moving(g, t)
        return there.B.T @ (self._own() + self.fluid.leading_inertia(there.poses)) @ there.B

    def velocity(self, g: Pose, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """(B^T M B)^-1 (mu - B^T M b)."""
        there = self.moving(g, t)
        M = self._own() + self.fluid.added_inertia(there.poses)
        return solve(there.B.T @ M @ there.B, mu - there.B.T @ (M @ there.b))

    def energy(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """The kinetic energy, which the gaits change."""
        return self.lagrangian(state.g, self.velocity(state.g, state.mu, t), t)

    def limit(self, g: Pose, t: Scalar, h: Scalar) -> Float[Array, ""]:
        """By how much the gap is above the smallest one."""
        return self.fluid.gap(self.moving(g, t).poses) - jnp.asarray(self.least)

    def rigid_motions(self, s: Float[Array, "6"], g: Pose) -> Pose:
        """Turns of the whole about the origin, and shifts."""
        move = SE3().exp(s)
        return jax.vmap(lambda pose: SE3().compose(move, pose))(g)

    @property
    def symmetry(self) -> Callable[..., Any] | None:
        """`rigid_motions`; none beside obstacles."""
        return None if self.fixed else self.rigid_motions

    @property
    def picture(self) -> Picture:
        """All links and obstacles, where they are ellipsoids."""
        sheets = self.fluid.sheets
        links = [f"link {i + 1} of {k + 1}" for k, each in enumerate(self.swimmers) for i in range(each.links.count)]
        names = [*links, *(f"obstacle {k + 1}" for k in range(self.fixed))]
        if not all(isinstance(sheet, SmoothSheet) for sheet in sheets):
            return Picture(seen=SchoolPlaces(self), names=names)
        axes, centres = ([np.asarray(getattr(sheet, name)) for sheet in sheets] for name in ("axes", "centre"))
        return Picture(shapes=axes, centres=centres, seen=SchoolPlaces(self), names=names)

    def _own(self) -> Float[Array, "l l"]:
        own = [each for swimmer in self.swimmers for each in jnp.asarray(swimmer.own)]
        return jax.scipy.linalg.block_diag(*own, jnp.zeros((6 * self.fixed, 6 * self.fixed)))
