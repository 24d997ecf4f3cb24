"""Point vortices in a plane of ideal fluid, alone or around a body: their energy, their impulse, their flow."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.hydro.conformal import exterior_map
from naiad.hydro.curve import AbstractCurve, Ellipse
from naiad.hydro.elliptic_cylinder import EllipticCylinder
from naiad.hydro.exterior_map import AbstractExteriorMap
from naiad.hydro.pair import Pair
from naiad.numerics import Module, check_double
from naiad.numerics.checks import finite, floats, is_known, number, positive, vector

Points = Float[Array, "n 2"]
TOUCHES = 1e-9
"""Of the size of a body or of the distances of vortices: nearer than that is no distance."""


class AtRest(NamedTuple):
    """What vortices give a body at rest: its momentum, angular first, less their own, and the energy."""

    impulse: Float[Array, "3"]
    energy: Float[Array, ""]


class Vortices(Module):
    """Point vortices of these strengths, counterclockwise, in a fluid of this density.

    With an `outline` there is a body in the fluid: any smooth curve, an ellipse in closed form, others by the map that
    a boundary method with `points` nodes finds. `circulation` is that around the body. Places are rows (x, y), in the
    frame of the body where there is one; what JAX traces may be differentiated.

    The energy is that of Kirchhoff and Routh, without the infinite part of each vortex [lin1941], and the momentum that
    a body at rest has through its vortices and its circulation is -rho (sum_k Gamma_k psi(x_k) + Gamma_b Psi_b), psi
    being the stream functions of its unit motions [shashikanth2002], [borisov2007].
    """

    gamma: Float[Array | np.ndarray, " n"]
    outline: AbstractCurve | None
    body: AbstractExteriorMap | None
    circulation: float
    density: float

    def __init__(
        self,
        gamma: Any = (),
        outline: AbstractCurve | EllipticCylinder | None = None,
        *,
        circulation: float = 0.0,
        density: float = 1.0,
        points: int | None = None,
    ):
        self.gamma = _strengths(gamma)
        self.outline = Ellipse(outline.a, outline.b) if isinstance(outline, EllipticCylinder) else outline
        self.body = None if self.outline is None else exterior_map(self.outline, points)
        self.circulation = number("circulation", circulation)
        self.density = positive("density", density)
        if self.body is None and is_known(self.circulation) and self.circulation != 0.0:
            raise InputError(f"circulation = {circulation!r} without a body; give its outline, or a vortex.")

    @property
    def count(self) -> int:
        """How many vortices there are."""
        return len(self.gamma)

    def energy(self, X: Points) -> Float[Array, ""]:
        """W: the energy while the body, if there is one, is at rest."""
        return self._energy(X, None if self.body is None else self.body.inverse(Pair.of(X)))

    def impulse(self, X: Points) -> Float[Array, "3"]:
        """The momentum (angular first, in its frame) of a body at rest, less that of the vortices themselves."""
        return self.at_rest(X).impulse

    def at_rest(self, X: Points) -> AtRest:
        """Both at once, around a body."""
        if self.body is None:
            raise InputError("These vortices are alone; give the outline of a body.")
        held = self.circulation * self.body.on_body
        s = self.body.inverse(Pair.of(X))
        if self.count:
            held = held + jnp.asarray(self.gamma) @ self.body.streams(s)
        return AtRest(-self.density * held, self._energy(X, s))

    def _energy(self, X: Points, s: Pair | None) -> Float[Array, ""]:
        gamma, rho = jnp.asarray(self.gamma), self.density
        first, second = np.triu_indices(self.count, 1)
        if self.body is None or s is None:
            z = Pair.of(X)
            apart = Pair(z.x[first] - z.x[second], z.y[first] - z.y[second])
            return -0.25 * rho / jnp.pi * jnp.sum(gamma[first] * gamma[second] * jnp.log(apart.square))
        if not self.count:
            return jnp.zeros(())
        R2 = self.body.radius**2
        one, other = (Pair(s.x[each], s.y[each]) for each in (first, second))
        apart, image = one.minus(other).square, one.times(other.conjugate).minus(Pair(R2, 0.0)).square
        pairs = gamma[first] * gamma[second] * jnp.log(apart * one.square * other.square / image)
        own = gamma**2 * (jnp.log(1.0 - R2 / s.square) + 0.5 * jnp.log(self.body.slope(s).square))
        around = self.circulation * gamma * jnp.log(s.square)
        return 0.25 * rho / jnp.pi * (jnp.sum(own) - jnp.sum(pairs) - jnp.sum(around))

    def margin(self, X: Points, h: Any) -> Float[Array, ""]:
        """What is left of 1 where vortices turn by so many radians in a time h about each other, or about their images
        in a wall; below 0 also where one is inside the body."""
        gamma = jnp.abs(jnp.asarray(self.gamma))
        first, second = np.triu_indices(self.count, 1)
        z = Pair.of(X)
        apart = Pair(z.x[first] - z.x[second], z.y[first] - z.y[second]).square
        rates = [(gamma[first] + gamma[second]) / (2.0 * jnp.pi * apart)] if len(first) else []
        if self.body is None:
            return 1.0 - jnp.abs(h) * jnp.max(rates[0], initial=0.0) if rates else jnp.ones(())
        if not self.count:
            return jnp.ones(())
        height = self.body.height(self.body.inverse(z))
        rates.append(gamma / (4.0 * jnp.pi * height**2))
        left = 1.0 - jnp.abs(h) * jnp.max(jnp.concatenate(rates))
        return jnp.where(jnp.min(height) > 0.0, left, -1.0)

    def stream_function(self, point: Float[Array, "2"], X: Points, xi: Float[Array, "3"]) -> Float[Array, ""]:
        """psi of the flow at a point while the body moves with xi, all in its frame: u = d psi/dy, v = -d psi/dx in a
        fluid at rest at infinity."""
        z, gamma = Pair.of(point), jnp.asarray(self.gamma)
        if self.body is None:
            return -0.25 / jnp.pi * jnp.sum(gamma * jnp.log(Pair.of(X).minus(z).square))
        s, R2 = self.body.inverse(z), self.body.radius**2
        psi = self.body.streams(s) @ jnp.asarray(xi) - 0.25 * self.circulation / jnp.pi * jnp.log(s.square)
        if not self.count:
            return psi
        own = self.body.inverse(Pair.of(X))
        image = own.conjugate.times(s).minus(Pair(R2, 0.0)).square
        far = jnp.log(own.minus(s).square * own.square * s.square / image)
        return psi - 0.25 / jnp.pi * jnp.sum(gamma * far)

    def flow(self, at: Any = None, pose: Any = (0.0, 0.0, 0.0), xi: Any = (0.0, 0.0, 0.0)) -> "VortexFlow":
        """The flow with the vortices at `at` in space while the body, at `pose`, has the velocity xi in its frame."""
        pose, xi = vector("pose", pose), vector("xi", xi)
        X = self.seen(self.places(at), pose)
        self.check(X)
        return VortexFlow(self, X, pose, xi)

    def places(self, at: Any) -> Float[np.ndarray, "n 2"]:
        """Places of all vortices as rows (x, y), from rows or from numbers x1, y1, x2, y2, ..."""
        array = np.zeros((0, 2)) if at is None else floats("at", at)
        fits = array.shape in ((self.count, 2), (2 * self.count,)) or not (array.size or self.count)
        if not fits or not finite(array):
            raise InputError(
                f"at has shape {array.shape}; expected a place (x, y) of finite numbers for each of {self.count} "
                "vortices."
            )
        return array.reshape(self.count, 2)

    def check(self, X: Any) -> None:
        """Raise an `InputError` where a vortex lies in or on the body, or on another one; X is in its frame."""
        if not all(map(is_known, (X, self.gamma))) or not self.count:
            return
        X = np.asarray(X, float)
        apart = np.abs((X[:, None] - X) @ [1.0, 1.0j]) + np.diag(np.full(len(X), np.inf))
        size = float(np.max(np.ptp(X, axis=0), initial=0.0)) or 1.0
        if self.body is not None:
            size = float(self.body.radius)
            heights = np.asarray(execute_rows(_height, self.body, X, parameters=()))
            for k in np.flatnonzero(~(heights > TOUCHES * size)):
                where = "on the wall of" if abs(heights[k]) <= TOUCHES * size else "inside"
                raise InputError(f"Vortex {k + 1} lies {where} the body, at {_told(X[k])} in its frame; move it out.")
        one, other = np.unravel_index(np.argmin(apart), apart.shape)
        if apart[one, other] <= TOUCHES * size:
            raise InputError(
                f"Vortices {min(one, other) + 1} and {max(one, other) + 1} lie at one place, {_told(X[one])}; move "
                "them apart, or make them one."
            )

    @staticmethod
    def seen(at: Any, pose: Any) -> Any:
        """Places in space as they are seen from a pose (beta, x, y)."""
        xp = np if all(map(is_known, (at, pose))) else jnp
        c, s = xp.cos(pose[0]), xp.sin(pose[0])
        x, y = at[..., 0] - pose[1], at[..., 1] - pose[2]
        return xp.stack([c * x + s * y, c * y - s * x], axis=-1)


class VortexFlow(Module):
    """The flow of vortices and of the body among them, in space; points are arrays whose last axis is (x, y), and
    inside the body values are NaN."""

    vortices: Vortices
    X: Float[Array | np.ndarray, "n 2"]
    pose: Float[Array | np.ndarray, "3"]
    xi: Float[Array | np.ndarray, "3"]

    def stream_function(self, points: Any) -> np.ndarray:
        """psi, constant along streamlines: u = d psi/dy, v = -d psi/dx; it grows like a logarithm at infinity."""
        return self._of(points)[..., 0]

    def velocity(self, points: Any) -> np.ndarray:
        """(u, v) in space."""
        return self._of(points)[..., 1:]

    def _of(self, points: Any) -> np.ndarray:
        check_double("points", points)
        array = np.asarray(points, dtype=float)
        if array.shape[-1:] != (2,):
            raise InputError(f"points of shape {array.shape}; expected (x, y) along the last axis.")
        rows = array.reshape(-1, 2)
        found = np.asarray(execute_rows(_psi_and_velocity, self, rows, parameters=()))
        return found.reshape(*array.shape[:-1], 3)


def _psi_and_velocity(flow: VortexFlow, point: Any) -> Any:
    vortices, pose = flow.vortices, jnp.asarray(flow.pose)

    def psi(point: Any) -> Any:
        return vortices.stream_function(Vortices.seen(point, pose), jnp.asarray(flow.X), jnp.asarray(flow.xi))

    value, slope = jax.value_and_grad(psi)(point)
    found = jnp.stack([value, slope[1], -slope[0]])
    if vortices.body is None:
        return found
    s = vortices.body.inverse(Pair.of(Vortices.seen(point, pose)))
    return jnp.where(s.square >= (1.0 - 1e-12) * vortices.body.radius**2, found, jnp.nan)


def _height(body: AbstractExteriorMap, point: Any) -> Any:
    return body.height(body.inverse(Pair.of(point)))


def _strengths(gamma: Any) -> Any:
    array = floats("gamma", gamma)
    array = array.reshape(1) if array.ndim == 0 and array.size else array
    if array.ndim != 1 or not finite(array) or (is_known(array) and np.any(array == 0.0)):
        raise InputError(f"gamma = {gamma!r}; expected a finite strength other than 0 for each vortex.")
    return array


def _told(point: Any) -> str:
    return f"({point[0]:.6g}, {point[1]:.6g})"
