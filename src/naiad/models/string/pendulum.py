"""The string pendulum: an elastic string with mass, on a reel or not, with a body at its end."""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO3
from naiad.mechanics import Scalar, Span, State, StringSystem, Tip
from naiad.models.positive import positive
from naiad.models.string.carnot import carnot_force
from naiad.models.string.hanging_body import HangingBody
from naiad.models.string.laws import AbstractLaw, as_law
from naiad.models.string.reel import Reel
from naiad.models.vector import vector3
from naiad.numerics import cross, static

KINETIC = {
    "paper": "the paper's M^3, which takes the string for unstretched there",
    "exact": "the integral over each element",
}
"""The kinetic energies of an element of string that runs over the guide way."""


class StringPendulum(StringSystem):
    """An elastic string of N finite elements that hangs from a guide way at the origin [lee2010].

    ell = T - V, with the string's line `density` mu [kg/m], its whole unstretched `length` L [m], of which s is on the
    reel, its `stiffness` (EA of Hooke's law in N, an `AbstractLaw`, or an energy W(strain) in J/m), and `gravity`
    [m/s^2]. An element has the unstretched length l = (L - s)/N and

        T_a = mu/2 int |q'|^2,      V_a = l W(|q_{a+1} - q_a|/l - 1) - mu l gravity . (q_a + q_{a+1})/2,

    q' the velocity of the string, which runs over the elements as s changes; `kinetic` "paper" leaves out a factor
    |q_{a+1} - q_a|^2/l^2 in what goes with s'^2. `body` is a `HangingBody`, or none; `reel` a `Reel`, or none for a
    string that is tied to the origin. A reel that is locked holds the length `wound` [m].
    """

    length: float
    density: float
    law: AbstractLaw
    gravity: Float[Array | np.ndarray, "3"]
    body: HangingBody | None
    reel: Reel | None
    held: float
    elements: int = static()
    kinetic: str = static()

    def __init__(
        self,
        *,
        length: float,
        density: float,
        stiffness: Any,
        elements: int = 20,
        gravity: Any = (0.0, 0.0, 9.81),
        body: HangingBody | None = None,
        reel: Reel | None = None,
        wound: float = 0.0,
        kinetic: Literal["paper", "exact"] = "paper",
    ):
        if isinstance(elements, bool) or not isinstance(elements, int | np.integer) or elements < 1:
            raise InputError(f"elements = {elements!r}; expected a whole number of at least 1.")
        if kinetic not in KINETIC:
            raise InputError(f"kinetic = {kinetic!r}; expected one of {', '.join(KINETIC)}.")
        self.length, self.density = positive("length", length), positive("density", density)
        self.law, self.gravity = as_law(stiffness), vector3("gravity", gravity)
        self.body, self.reel, self.elements, self.kinetic = body, reel, int(elements), kinetic
        self.held = positive("wound", wound, zero=True)
        if self.held and (reel is None or not reel.locked):
            raise InputError(f"wound = {wound!r} is for a locked reel; a reel that turns has s in its state.")
        if reel is not None and reel.locked and not reel.guide <= self.held < self.length:
            raise InputError(
                f"wound = {wound!r}; expected at least the guide way's {reel.guide:g} m and less than the length "
                f"{self.length:g} m."
            )

    @property
    def reeled(self) -> bool:
        """Whether s moves."""
        return self.reel is not None and not self.reel.locked

    @property
    def locked_at(self) -> Any:
        """The length on a reel that is locked."""
        return self.held

    @property
    def turning(self) -> bool:
        """Whether the body has an attitude."""
        return self.body is not None and self.body.inertia is not None

    @property
    def down(self) -> Any:
        """The direction of gravity."""
        return self.gravity if np.any(self.gravity) else None

    @property
    def semi_axes(self) -> Any:
        """Those of an ellipsoid like the body."""
        return [self.body.semi_axes] if self.body is not None and self.turning else None

    def body_place(self, g: Any) -> Float[Array, "3"]:
        """The mass centre of the body."""
        end = super().body_place(g)
        return end if self.body is None or not self.turning else self.body.mass_centre(end, g.R)

    def element_length(self, s: Any) -> Any:
        """l = (L - s)/N."""
        return (self.length - s) / self.elements

    def element_kinetic(self, index: Scalar, at: Span, rate: Span) -> Float[Array, ""]:
        """[lee2010, eq. (30)]: the velocity is linear along an element, from q_a' + (N - a) w to q_{a+1}' + (N - a - 1)
        w with w = (q_a - q_{a+1}) s'/(N l), a from 0; T_a = mu l (|mean|^2 + |half the difference|^2/3)/2."""
        length = self.element_length(at.s)
        d, speed, half = at.near - at.far, rate.s / self.elements, 0.5 * self.density * length
        w, middle = (speed / length) * d, self.elements - 0.5 - index
        mean = 0.5 * (rate.near + rate.far) + middle * w
        difference = 0.5 * (rate.near - rate.far + w)
        T = half * (jnp.dot(mean, mean) + jnp.dot(difference, difference) / 3.0)
        if self.kinetic == "exact":
            return T
        return T + half * (middle**2 + 1.0 / 12.0) * (speed**2 - jnp.dot(w, w))

    def element_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """The weight."""
        weight = 0.5 * self.density * self.element_length(at.s)
        return -weight * jnp.dot(jnp.asarray(self.gravity), at.near + at.far)

    def stiff_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """l W(strain)."""
        length, d = self.element_length(at.s), at.far - at.near
        return length * self.law.energy(jnp.sqrt(jnp.dot(d, d)) / length - 1.0)

    def tip_kinetic(self, at: Tip, rate: Tip) -> Float[Array, ""]:
        """(mu s + kappa) s'^2/2 [lee2010, eq. (2)], and that of the body."""
        wound = 0.0 if self.reel is None else 0.5 * (self.density * at.s + self.reel.inertia) * rate.s**2
        return jnp.asarray(wound) + (0.0 if self.body is None else self.body.kinetic(rate.q, rate.R))

    def tip_potential(self, at: Tip, t: Scalar) -> Float[Array, ""]:
        """The weight of the string on the drum [lee2010, eq. (5), corrected] and of the body."""
        gravity = jnp.asarray(self.gravity)
        V = jnp.zeros(())
        if self.reel is not None:
            d, out = self.reel.radius, at.s - self.reel.guide
            g = jnp.sqrt(jnp.dot(gravity, gravity))
            V = V - self.density * g * (out * self.reel.drop + d**2 * (jnp.cos(out / d) - 1.0))
        if self.body is not None:
            V = V - self.body.mass * jnp.dot(gravity, self.body.mass_centre(at.q, at.R))
        return V

    def reel_force(self, g: Any, speed: Any, t: Scalar) -> Float[Array, ""]:
        """u/d and Carnot's term, where the reel turns."""
        assert self.reel is not None
        return self.reel.control(g, speed, t) / self.reel.radius + self.carnot_force(g, speed)

    def carnot_force(self, g: Any, speed: Any) -> Float[Array, ""]:
        """Carnot's term at a configuration and a speed s'."""
        assert self.reel is not None
        first = jnp.asarray(g.q)[0]
        strain = jnp.sqrt(jnp.dot(first, first)) / self.element_length(self.wound(g)) - 1.0
        loss = 0.5 * self.density * (strain * speed) ** 2 + self.law.energy(strain)
        return carnot_force(self.reel.carnot, loss, speed, self.reel.smooth)

    def admissible(self, g: Any) -> Any:
        """Whether there is string left on the drum and outside."""
        if not self.reeled:
            return super().admissible(g)
        assert self.reel is not None
        s = self.wound(g)
        return (s >= self.reel.guide) & (s < self.length)

    @property
    def axis(self) -> Float[Array, "3"]:
        """The direction of gravity; the third axis without it."""
        gravity = jnp.asarray(self.gravity)
        size = jnp.sqrt(jnp.dot(gravity, gravity))
        return jnp.where(size > 0.0, gravity / jnp.where(size > 0.0, size, 1.0), jnp.array((0.0, 0.0, 1.0)))

    def symmetry(self, s: Float[Array, " k"], g: Any) -> Any:
        """Turns about the direction of gravity."""
        turn = SO3().exp(s[0] * self.axis)
        moved = g._replace(q=jnp.asarray(g.q) @ turn.T)
        return moved._replace(R=turn @ g.R) if self.turning else moved

    def angular_momentum(self, state: State) -> Float[Array, "3"]:
        """sum_a q_a x p_a + R Pi, about the guide way."""
        rows, ends = self.split(jnp.asarray(state.mu))

        def node(total, each):
            return total + cross(*each), None

        turning = jnp.asarray(state.g.R) @ ends[-3:] if self.turning else jnp.zeros(3)
        return jax.lax.scan(node, turning, (jnp.asarray(state.g.q), rows))[0]

    def noether(
        self, state: State, action: Callable[[Float[Array, " k"], Any], Any] | None = None, *, dim: int | None = None
    ) -> Float[Array, " k"]:
        """The momentum of an action, by default of turns about gravity: pi_3 [lee2010, section 2.4]."""
        if action is not None:
            return super().noether(state, action, dim=dim)
        return jnp.dot(self.axis, self.angular_momentum(state))[None]

    def stretched_length(self, g: Any) -> Float[Array, ""]:
        """The length of the string outside, as it is stretched."""
        q = jnp.asarray(g.q)
        steps = jnp.concatenate([q[:1] - self.start(0.0), q[1:] - q[:-1]])
        return jnp.sum(jnp.sqrt(jnp.sum(steps**2, axis=1)))

    def state(self, g: Any = None, xi: Any = None, mu: Any = None, *, t: Scalar = 0.0, **components: Any) -> State:
        """A checked state (see `LagrangianSystem.state`): `q` are the nodes after the guide way, `s` the length on the
        reel, `R` the attitude; `q_v`, `s_v`, `R_Omega` their velocities."""
        state = super().state(g, xi, mu, t=t, **components)
        q = np.vstack([np.zeros(3), state.g.q])
        gaps = np.linalg.norm(np.diff(q, axis=0), axis=1)
        if np.any(gaps == 0.0):
            first = int(np.argmin(gaps))
            raise InputError(f"Nodes {first} and {first + 1} of the string coincide; give different places (`q`).")
        if self.reeled:
            assert self.reel is not None
            s = float(state.g.s[0])
            if not self.reel.guide <= s < self.length:
                raise InputError(
                    f"s = {s:g} m of string on the reel; expected at least the guide way's {self.reel.guide:g} m and "
                    f"less than the length {self.length:g} m."
                )
        return state

    def straight(
        self,
        direction: Any,
        *,
        s: float | None = None,
        strain: float = 0.0,
        tip_velocity: Any = (0.0, 0.0, 0.0),
        **more,
    ) -> State:
        """The state of a straight string, at rest but for the velocity of its end; `s` for a reel that turns, `more`
        for the rest (`R`, `R_Omega`, `s_v`)."""
        along = vector3("direction", direction)
        if not np.any(along):
            raise InputError("direction = 0; expected the direction of the string.")
        if self.reeled and s is None:
            raise InputError("straight(): give s, the length of string on the reel.")
        length = self.element_length(self.held if s is None else s) * (1.0 + strain)
        numbers = np.arange(1, self.elements + 1)[:, None]
        v = np.zeros((self.elements, 3))
        v[-1] = vector3("tip_velocity", tip_velocity)
        reel = {"s": [s]} if self.reeled else {}
        return self.state(q=numbers * length * along / np.linalg.norm(along), q_v=v, **reel, **more)
