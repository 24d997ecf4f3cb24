"""The string pendulum: an elastic string with mass, on a reel or not, with a body at its end."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.current import Current, Here, as_current
from naiad.forces.force import force_on_product
from naiad.forces.signals import AbstractSignal, signal
from naiad.groups import SO3
from naiad.mechanics import Picture, Scalar, State
from naiad.numerics import cross, static
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import is_known, positive, unit_axis, vector
from naiad.strings.bending import Bending
from naiad.strings.carnot import carnot_force
from naiad.strings.fields import AbstractField, as_field
from naiad.strings.hanging_body import HangingBody
from naiad.strings.inside import InnerElements, inner_damping, inner_elastic, rubbing
from naiad.strings.kinetic import KINETIC, Form, kinetic_form
from naiad.strings.laws import AbstractLaw, Inextensible, as_law
from naiad.strings.loads import AbstractLoad, StringPoint, checked_loads
from naiad.strings.parts import Span, Tip
from naiad.strings.reel import Reel
from naiad.strings.reel_force import driving_force
from naiad.strings.schedule import as_schedule
from naiad.strings.system import StringSystem
from naiad.strings.wound import wound_kinetic, wound_potential


class StringPendulum(StringSystem):
    """An elastic string of N finite elements that hangs from a guide way [lee2010, section 3.1].

    ell = T - V, with the string's `mass_per_length` mu [kg/m], its whole unstretched `length` L [m], of which s is on
    the reel, its `stiffness` (EA of Hooke's law in N, an `AbstractLaw`, or an energy W(strain) in J/m), and `gravity`
    [m/s^2]. An element has the unstretched length l = (L - s)/N and

        T_a = mu/2 int |q'|^2,      V_a = l W(|q_{a+1} - q_a|/l - 1) - mu l gravity . (q_a + q_{a+1})/2,

    q' the velocity of the string, which runs over the elements as s changes; `kinetic` "paper", the default, leaves out
    a factor |q_{a+1} - q_a|^2/l^2 in what goes with s'^2, "lumped" puts the mass at the nodes. `body` is a
    `HangingBody`, or none; `reel` a `Reel`, or none for a string that is tied to the guide way. A reel that is locked
    holds the length `wound` [m], or drives it, if that is a function s(t); `reel_moment` is the moment that this takes.
    With `stiffness` `Inextensible()` the elements keep the length l, by constraints. On a reel with elements `inside`
    the string stretches there too: s is its unstretched length inside also where the reel is locked, and `wound` is
    then the length of its way there. Beyond the paper there are

    - `damping` eta [N s]: the tension has a part eta strain', in each element (Kelvin and Voigt);
    - `bending`: EI [N m^2], or a `Bending`;
    - `loads`: forces along the string, such as `LineDrag`, or functions of a `StringPoint` (a body has its own);
    - `current`: the velocity of the water or the wind, that loads and the body's forces see: three numbers, a function
      U(t) or a function U(x, t);
    - `guide`: the place of the guide way as a function of time (a crane, a ship); q are places in space;
    - `field`: a potential phi(x, t) per unit of mass beside `gravity`, such as `GravityGradient` with x from the
      spacecraft.
    """

    length: float
    mass_per_length: float
    law: AbstractLaw
    gravity: Float[Array | np.ndarray, "3"]
    body: HangingBody | None
    reel: Reel | None
    held: float
    schedule: AbstractSignal | None
    damping: float | None
    bending: Bending | None
    loads: tuple[AbstractLoad, ...]
    current: Current | None
    guide_way: AbstractSignal | None
    field: AbstractField | None
    elements: int = static()
    kinetic: str = static()

    def __init__(
        self,
        *,
        length: float,
        mass_per_length: float,
        stiffness: Any,
        elements: int = 20,
        gravity: Any = (0.0, 0.0, 9.81),
        body: HangingBody | None = None,
        reel: Reel | None = None,
        wound: Any = 0.0,
        kinetic: Literal["paper", "exact", "lumped"] | None = None,
        damping: float = 0.0,
        bending: Any = None,
        loads: Any = (),
        current: Any = None,
        guide: Any = None,
        field: Any = None,
    ):
        if isinstance(elements, bool) or not isinstance(elements, int | np.integer) or elements < 1:
            raise InputError(f"elements = {elements!r}; expected a whole number of at least 1.")
        if kinetic is not None and kinetic not in KINETIC:
            raise InputError(f"kinetic = {kinetic!r}; expected one of {', '.join(KINETIC)}.")
        self.length, self.mass_per_length = positive("length", length), positive("mass_per_length", mass_per_length)
        self.law, self.gravity = as_law(stiffness), vector("gravity", gravity)
        self.body, self.reel, self.elements = body, reel, int(elements)
        self.kinetic = kinetic or ("exact" if self.inner else "paper")
        loss = positive("damping", damping, zero=True)
        self.damping = None if is_known(loss) and not loss else loss
        if isinstance(self.law, Inextensible) and self.damping is not None:
            raise InputError(
                f"damping = {damping:g} N s of an inextensible string, whose strain does not change: nothing would be "
                "damped; leave it out, or give the string a finite stiffness."
            )
        self.bending = bending if bending is None or isinstance(bending, Bending) else Bending(bending)
        self.loads = checked_loads(loads)
        self.current = None if current is None else as_current(current)
        self.guide_way = None if guide is None else signal("guide", guide, 3)
        self.field = None if field is None else as_field(field)
        self.schedule = as_schedule("wound", wound) if callable(wound) else None
        self.held = 0.0 if self.schedule is not None else positive("wound", wound, zero=True)
        winds = self.schedule is not None or not is_known(self.held) or self.held > 0
        if winds and (reel is None or not reel.locked):
            raise InputError(f"wound = {wound!r} is for a locked reel; a reel that turns has s in its state.")
        if self.inner and isinstance(self.law, Inextensible):
            raise InputError("inside: an inextensible string does not stretch on the drum either; leave `inside` out.")
        if self.inner and kinetic == "paper":
            raise InputError(
                "kinetic = 'paper' takes the string for unstretched at the guide way, and elements inside become "
                "unstable with it; use 'exact', the default with them, or 'lumped'."
            )
        if self.schedule is None and reel is not None and reel.locked:
            known = all(map(is_known, (reel.guide, self.held, self.length)))
            if known and not (reel.guide <= self.held and (self.inner or self.held < self.length)):
                raise InputError(
                    f"wound = {wound!r}; expected at least the guide way's {reel.guide:g} m and less than the length "
                    f"{self.length:g} m."
                )

    @property
    def reeled(self) -> bool:
        """Whether s moves."""
        return self.reel is not None and (not self.reel.locked or self.inner > 0)

    @property
    def locked_at(self) -> Any:
        """The length on a reel that is locked."""
        return self.held

    @property
    def prescribed(self) -> Any:
        """The length on a reel that is driven, as a function of time."""
        return None if self.schedule is None or self.inner else self._scheduled

    @property
    def inner(self) -> int:
        """The number of elements inside, each with the node at its end that is nearer to the drum's."""
        return 0 if self.reel is None else len(self.reel.shares)

    @property
    def drum(self) -> Any:
        """The way from the guide way to the string's end on a drum that is locked or driven, as a function of time."""
        if not self.inner or self.reel is None or not self.reel.locked:
            return None
        return self._held if self.schedule is None else self._scheduled

    @property
    def link_length(self) -> Any:
        """The length l(s) that an element keeps, if the string does not stretch."""
        return self.element_length if isinstance(self.law, Inextensible) else None

    @property
    def guide(self) -> Any:
        """The place of a guide way that moves."""
        return self.guide_way

    @property
    def turning(self) -> bool:
        """Whether the body has an attitude."""
        return self.body is not None and self.body.inertia is not None

    @property
    def picture(self) -> Picture:
        """The string, with an ellipsoid like the body, under gravity."""
        shapes = [self.body.semi_axes] if self.body is not None and self.turning else None
        return super().picture._replace(down=self.gravity if np.any(self.gravity) else None, shapes=shapes)

    def body_place(self, g: Any) -> Float[Array, "3"]:
        """The mass centre of the body."""
        end = super().body_place(g)
        return end if self.body is None or not self.turning else self.body.mass_centre(end, g.R)

    def element_length(self, s: Any) -> Any:
        """l = (L - s)/N."""
        return (self.length - s) / self.elements

    def kinetic_form(self, index: Scalar, s: Any, speed: Any) -> Form:
        """T_a by the chosen rule."""
        length = self.element_length(s)
        return kinetic_form(self.kinetic, self.mass_per_length, length, self.elements, index, speed)

    def element_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """The weight, and the energy in the field (Simpson's rule, exact for a quadratic one)."""
        mass = self.mass_per_length * self.element_length(at.s)
        V = -0.5 * mass * jnp.dot(jnp.asarray(self.gravity), at.near + at.far)
        if self.field is None:
            return V
        middle = 0.5 * (at.near + at.far)
        return V + mass / 6.0 * (self.field(at.near, t) + 4.0 * self.field(middle, t) + self.field(at.far, t))

    def stiff_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """l W(strain)."""
        return self.element_length(at.s) * self.law.energy(self.strain(at))

    def stiff_between(self, length: Any, s: Any, end_length: Any, end_s: Any) -> Float[Array, ""]:
        """l W at the mean of both strains: it pulls along the element as that is at each end of the step, and becomes
        RATTLE as the string gets stiffer; half-way an element that turns would seem too short."""
        total = length * (1.0 / self.element_length(s)) + end_length * (1.0 / self.element_length(end_s))
        return self.element_length(0.5 * (s + end_s)) * self.law.energy(0.5 * total - 1.0)

    def tip_kinetic(self, at: Tip, rate: Tip) -> Float[Array, ""]:
        """That of the reel and of the body."""
        T = jnp.zeros(()) if self.body is None else self.body.kinetic(rate.q, rate.R, rate.frame)
        if self.reel is None:
            return T
        lumped = self.kinetic == "lumped"
        return T + wound_kinetic(self.reel, self.mass_per_length, self.axis, at, rate, lumped=lumped)

    def inner_energy(self, at: Tip, t: Scalar) -> Any:
        """The elastic energy of the string inside."""
        return inner_elastic(self.reel, self.law, at) if self.inner and self.reel is not None else 0.0

    def tip_potential(self, at: Tip, t: Scalar) -> Float[Array, ""]:
        """That of the string on the drum and of the body."""
        gravity = jnp.asarray(self.gravity)
        V = jnp.zeros(())
        if self.reel is not None:
            V = V + wound_potential(self.reel, self.mass_per_length, gravity, self.field, at, t)
        if self.body is not None:
            V = V - self.body.mass * jnp.dot(gravity, self.body.mass_centre(at.q, at.R))
            if self.field is not None:
                V = V + self.body.potential(partial(self.field, t=t), at.q, at.R)
        return V

    @property
    def joint_potential(self) -> Any:
        """The energy of bending, if it has any."""
        return None if self.bending is None else self._bent

    @property
    def element_force(self) -> Any:
        """Damping and loads, if there are any."""
        return self._element_force if self.damping is not None or self.loads else None

    @property
    def tip_force(self) -> Any:
        """The forces on the body, if there are any."""
        return self._tip_force if self.body is not None and self.body.forces else None

    def strain(self, at: Span) -> Float[Array, ""]:
        """That of an element."""
        return at.length * (1.0 / self.element_length(at.s)) - 1.0

    def inner_strains(self, g: Any, t: Scalar = 0.0) -> Float[Array, " M"]:
        """Those of the elements inside, from the drum's end on."""
        assert self.reel is not None
        return InnerElements.of(self.reel, self.tip_place(self.tip_element(g), t)).strain

    def reel_force(self, g: Any, rates: Float[Array, " m"], t: Scalar) -> Float[Array, " m"]:
        """u/d and Carnot's term on s, where the reel turns; where the string stretches inside, friction and damping on
        s and w, and u/d on its end at the drum."""
        if not self.inner:
            return (self.pull(g, rates[0], t) + self.carnot_force(g, rates[0], t))[None]
        on_s, on_w = self.inner_force(g, rates, t)
        if self.drum is not None:
            return jnp.append(on_s, on_w[1:])
        return jnp.append(on_s, on_w.at[0].add(self.pull(g, rates[1], t)))

    def pull(self, g: Any, speed: Any, t: Scalar = 0.0) -> Float[Array, ""]:
        """u/d, the force of the moment on the way of the drum's surface, at its speed."""
        assert self.reel is not None
        return self.reel.control(g, speed, t) / self.reel.radius

    def inner_force(self, g: Any, rates: Float[Array, " m"], t: Scalar = 0.0) -> tuple[Any, Any]:
        """Friction and damping inside, on s and on the ways to all nodes there, for the rates of s and of the free
        ones."""
        assert self.reel is not None
        nowhere = jnp.zeros(3)
        at = Tip(nowhere, self.wound(g, t), None, None, self.inside(g, t))
        rate = Tip(nowhere, rates[0], None, None, self.inside_rate(rates[1:], t))
        total = jnp.zeros(()), jnp.zeros(self.inner)
        if self.reel.friction is not None:
            total = jax.tree.map(jnp.add, total, rubbing(self.reel, self.law, at, rate))
        if self.damping is not None:
            total = jax.tree.map(jnp.add, total, inner_damping(self.reel, self.damping, at, rate))
        return total

    def carnot_force(self, g: Any, speed: Any, t: Scalar = 0.0) -> Float[Array, ""]:
        """Carnot's term at a configuration and a speed s'; none where the string does not stretch, or also inside."""
        assert self.reel is not None
        if self.link_length is not None or self.inner:
            return jnp.zeros(())
        strain = self.strain(Span(self.outlet(t), jnp.asarray(g.q)[0], self.wound(g, t)))
        loss = 0.5 * self.mass_per_length * (strain * speed) ** 2 + self.law.energy(strain)
        return carnot_force(self.reel.carnot, loss, speed, self.reel.smooth)

    def reel_moment(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """The moment u [N m] with which a driven or locked reel keeps to its length."""
        if self.reel is None or not self.reel.locked:
            raise InputError("reel_moment is for a reel that is locked or driven; one that turns has its moment given.")
        turning = self.reel.replaced(locked=False, moment=0.0, law_of_moment=None)
        return self.reel.radius * driving_force(self, self.replaced(reel=turning, schedule=None), state, t)

    def admissible(self, g: Any, t: Scalar = 0.0) -> Any:
        """Whether there is string left on the drum and outside."""
        if not self.reeled and self.schedule is None:
            return super().admissible(g, t)
        assert self.reel is not None
        s = self.wound(g, t)
        if self.inner:
            return (self.inside(g, t)[0] >= self.reel.guide) & (s > 0.0) & (s < self.length)
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

    def stretched_length(self, g: Any, t: Scalar = 0.0) -> Float[Array, ""]:
        """The length of the string outside, as it is stretched."""
        q = jnp.asarray(g.q)
        steps = jnp.concatenate([q[:1] - self.outlet(t), q[1:] - q[:-1]])
        return jnp.sum(jnp.sqrt(jnp.sum(steps**2, axis=1)))

    def unstretched(self, s: Any) -> Float[Array | np.ndarray, " m"]:
        """The ways to the free nodes inside, where the length s there is not stretched."""
        assert self.reel is not None
        ways = np.ravel(s) * np.cumsum(self.reel.shares[::-1])[::-1]
        return ways if self.drum is None else ways[1:]

    @checked_throughout
    def state(self, g: Any = None, xi: Any = None, mu: Any = None, *, t: Scalar = 0.0, **components: Any) -> State:
        """A checked state (see `LagrangianSystem.state`): `q` are the nodes after the guide way, `s` the length on the
        reel, `w` the ways to the nodes inside (unstretched, if not given), `R` the attitude; `q_v`, `s_v`, `w_v`,
        `R_Omega` their velocities."""
        if "w" in self.ends and "s" in components and "w" not in components:
            components["w"] = self.unstretched(components["s"])
        state = super().state(g, xi, mu, t=t, **components)
        if not all(map(is_known, jax.tree.leaves((self, state, t)))):
            return state
        q = np.vstack([np.asarray(self.outlet(t)), state.g.q])
        gaps = np.linalg.norm(np.diff(q, axis=0), axis=1)
        if np.any(gaps == 0.0):
            first = int(np.argmin(gaps))
            raise InputError(f"Nodes {first} and {first + 1} of the string coincide; give different places (`q`).")
        if self.reeled or self.schedule is not None:
            assert self.reel is not None
            s = float(self.wound(state.g, t))
            if self.inner:
                ways = np.append(self.inside(state.g, t), 0.0)
                if ways[0] < self.reel.guide or np.any(np.diff(ways) >= 0.0):
                    raise InputError(
                        f"w = {ways[:-1]} m; expected ways from the guide way to the nodes inside that get shorter, "
                        f"the first at least the guide way's {self.reel.guide:g} m."
                    )
            if not (0.0 if self.inner else self.reel.guide) <= s < self.length or s == 0.0:
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
        s_v: Any = None,
        strain: float = 0.0,
        tip_velocity: Any = (0.0, 0.0, 0.0),
        t: float = 0.0,
        **more,
    ) -> State:
        """The state of a straight string at t, at rest but for the velocity of its end; with a guide way that moves, in
        its motion, with a reel that is driven, or one that turns where it does not stretch, growing evenly. `s` and its
        rate `s_v` are for a reel that turns, `more` for the rest (`R`, `R_Omega`). The string inside has the same
        strain, if it stretches there."""
        unit = unit_axis("direction", direction)
        if s is None and self.drum is not None:
            s = float(self.drum(t)) / (1.0 + strain)
        if "w" in self.ends and s is not None:
            more = {"w": (1.0 + strain) * self.unstretched(s)} | more
        if self.reeled and s is None:
            raise InputError("straight(): give s, the length of string on the reel.")
        length = self.element_length(self.wound(None, t) if s is None else s) * (1.0 + strain)
        numbers = np.arange(1, self.elements + 1)[:, None]
        at_rest = self.reeled and self.link_length is None
        speed = 0.0 if at_rest else self.reel_speed(jnp.ravel(jnp.asarray(0.0 if s_v is None else s_v)), t)
        growing = -speed * (1.0 + strain) / self.elements
        last = numbers == self.elements
        v = self.outlet_rate(t) + numbers * growing * unit + last * vector("tip_velocity", tip_velocity)
        reel = ({"s": [s]} if self.reeled else {}) | ({} if s_v is None else {"s_v": s_v})
        q = self.outlet(t) + numbers * length * unit
        return self.state(t=t, q=q, q_v=v, **reel, **more)

    def _held(self, t: Scalar) -> Float[Array, ""]:
        return jnp.asarray(self.held)

    def _scheduled(self, t: Scalar) -> Float[Array, ""]:
        assert self.schedule is not None
        return jnp.reshape(self.schedule(t), ())

    def _bent(self, index: Any, before: Any, at: Any, after: Any, s: Any, t: Scalar) -> Float[Array, ""]:
        assert self.bending is not None
        return self.bending.energy(index, before, at, after, self.element_length(s))

    def _element_force(self, index: Any, at: Span, rate: Span, t: Scalar) -> Span:
        if self.damping is None:
            return self._load_force(index, at, rate, t)
        viscous = self._viscous_force(at, rate)
        if not self.loads:
            return viscous
        return jax.tree.map(jnp.add, viscous, self._load_force(index, at, rate, t))

    def _viscous_force(self, at: Span, rate: Span) -> Span:
        """- l eta strain' d strain/d(near, far, s)."""
        slope = jax.grad(self.strain)(at)
        strain_rate = jnp.dot(slope.near, rate.near) + jnp.dot(slope.far, rate.far) + slope.s * rate.s
        viscous = self.damping * self.element_length(at.s) * strain_rate
        return jax.tree.map(lambda each: -viscous * each, slope)

    def _load_force(self, index: Scalar, at: Span, rate: Span, t: Scalar) -> Span:
        """The loads at the middle of the element, which moves at (q_a' + q_{a+1}')/2 + (N - a - 1/2) w (see
        `kinetic_form`)."""
        d = at.far - at.near
        stretched = jnp.sqrt(jnp.dot(d, d))
        by_s = -(self.elements - 0.5 - index) / (self.length - at.s) * d
        x, v = 0.5 * (at.near + at.far), 0.5 * (rate.near + rate.far) + rate.s * by_s
        through = v if self.current is None else v - self.current(x, t)
        point = StringPoint(x, v, through, d / stretched, stretched / self.element_length(at.s), t)
        total = stretched * sum((load(point) for load in self.loads), jnp.zeros(3))
        return Span(0.5 * total, 0.5 * total, jnp.dot(total, by_s))

    def _tip_force(self, at: Tip, x: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
        assert self.body is not None
        R, Omega = (at.R, x[-3:]) if self.turning else (jnp.eye(3), jnp.zeros(3))
        current = None if self.current is None else Here(self.current, at.q)
        wrench = force_on_product(self.body.forces, current, R, at.q, Omega, x[:3], t)
        total = jnp.zeros_like(x).at[:3].set(wrench[3:])
        return total.at[-3:].set(wrench[:3]) if self.turning else total
