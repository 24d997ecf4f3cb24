"""The kinetic energy of an element of string that runs over the guide way."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.strings.parts import Vector

KINETIC = {
    "paper": "the paper's M^3, which takes the string for unstretched there",
    "exact": "the integral over each element",
    "lumped": "half of each element's mass at each of its nodes",
}
"""The energies by name."""


class Form(NamedTuple):
    """A quadratic form (A |x|^2 + C |y|^2 + G |d|^2)/2 + B x . y + E x . d + F y . d + H of the velocities x and y of
    the near and the far node of an element and the way d to the near one."""

    A: Any
    B: Any
    C: Any
    E: Any
    F: Any
    G: Any
    H: Any

    def value(self, x: Vector, y: Vector, d: Vector) -> Float[Array, ""]:
        """Its value."""
        A, B, C, E, F, G, H = self
        squares = A * jnp.dot(x, x) + C * jnp.dot(y, y) + G * jnp.dot(d, d)
        return 0.5 * squares + B * jnp.dot(x, y) + E * jnp.dot(x, d) + F * jnp.dot(y, d) + H

    def value_and_slopes(self, x: Vector, y: Vector, d: Vector) -> tuple[Float[Array, ""], Vector, Vector]:
        """Its value, and its derivatives in x and y, from which the value follows with less work."""
        A, B, C, E, F, G, H = self
        near, far = A * x + B * y + E * d, B * x + C * y + F * d
        twice = jnp.dot(x, near + E * d) + jnp.dot(y, far + F * d) + G * jnp.dot(d, d)
        return 0.5 * twice + H, near, far

    def by_way(self, x: Vector, y: Vector, d: Vector) -> Vector:
        """That in d."""
        return self.E * x + self.F * y + self.G * d

    def after(self, time: Any) -> "Form":
        """The form whose d is that so long before: d + time (x - y) for d."""
        A, B, C, E, F, G, H = self
        run, twice = time * G, 2.0 * time
        bend = time * run
        return Form(A + twice * E + bend, B + time * (F - E) - bend, C - twice * F + bend, E + run, F - run, G, H)

    def couplings(self, place: float, h: Any) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
        """Of what `after(place * h)` makes of it, D_x - h D_d and D_y + h D_d, by what x, y and d are multiplied with:
        what cancels is left out."""
        A, B, C, E, F, G, _ = self
        before, after = place * h, (1.0 - place) * h
        lean, run = before - after, after * G
        bend = before * run
        near = A + lean * E - bend, B - (before * E + after * F) + bend, E - run
        return near, (B + (after * E + before * F) + bend, C - lean * F - bend, F + run)

    def legs(self, place: float, h: Any, x: Vector, y: Vector, d: Vector) -> tuple[Vector, Vector]:
        """These at velocities and a way."""
        (a, b, c), (p, q, r) = self.couplings(place, h)
        return a * x + b * y + c * d, p * x + q * y + r * d


def kinetic_form(kind: str, density: Any, length: Any, count: int, index: Scalar, speed: Any) -> Form:
    """T_a of the element a of N = `count`, from 0, of the unstretched `length` l at the `speed` s' [lee2010, eq. (30)].

    The velocity is linear along it, from q_a' + (N - a) w to q_{a+1}' + (N - a - 1) w, w = (q_a - q_{a+1}) s'/(N l).
    With the sum S and the difference D of the nodes' velocities, M = N - a - 1/2 and k = 1/3 (1 if lumped),
    T_a = mu l (|S|^2/4 + k |D|^2/4 + w . (M S + k D/2) + (M^2 + k/4) |w|^2)/2; "paper" has s'/N for |w| at its end.
    """
    run, middle, share = speed / count, count - 0.5 - index, 1.0 if kind == "lumped" else 1.0 / 3.0
    mass, arm = 0.25 * density * length, 0.5 * density * run
    own, other = (1.0 + share) * mass, (1.0 - share) * mass
    running, carried = density * run**2, middle**2 + 0.25 * share
    G, H = (0.0, 0.5 * running * length * carried) if kind == "paper" else (running * (1.0 / length) * carried, 0.0)
    return Form(own, other, own, arm * (middle + 0.5 * share), arm * (middle - 0.5 * share), G, H)
