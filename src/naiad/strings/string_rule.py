"""The discrete Lagrangian of a string as a whole, for the general integrator."""

from typing import Any

import jax
import jax.numpy as jnp

from naiad.integrators.rules import AbstractRule, Midpoint, slopes_by_autodiff
from naiad.strings.parts import Span
from naiad.strings.rules import Rule, element_rule, moved
from naiad.strings.system import StringSystem


class StringRule(AbstractRule):
    """L_d of a `StringSystem` (see `rules`): `Variational(Cayley(), StringRule(rule))` takes the same step as
    `StringVariational(rule)`, by a general solver."""

    rule: AbstractRule = Midpoint()

    def __post_init__(self):
        element_rule("StringRule", self.rule)

    @property
    def discrete(self) -> Rule:
        """What the rule is for a string."""
        return element_rule("StringRule", self.rule)

    def order(self, system):
        return 2 if self.symmetric(system) else 1

    def symmetric(self, system):
        return self.discrete.symmetric or not getattr(system, "uneven", False)

    def action(self, system: StringSystem, tau, g, xi, t, h):
        rule, end = self.discrete, system.group.compose(g, tau.tau(system.group, h * xi))
        rate = jax.tree.map(lambda x: x / h, _change(g, tau.increment(system.group, h * xi)))
        at, tip_rate = system.tip_place(system.tip_element(g), t), system.tip_rate(system.tip_element(rate), t, h)

        def element(carry, each):
            total, near, near_rate = carry
            index, far, far_rate = each
            span, span_rate = Span(near, far, at.s), Span(near_rate, far_rate, tip_rate.s)
            return (total + rule.element_mean(system, index, span, span_rate, t, h), far, far_rate), None

        start = (rule.tip_mean(system, at, tip_rate, t, h), system.outlet(t), system.outlet_rate(t, h))
        each = (system.numbers(), jnp.asarray(g.q), rate.q)
        action = h * jax.lax.scan(element, start, each)[0][0]
        energy = system.smooth_potential if rule.implicit else system.potential
        return action - 0.5 * h * (energy(g, t) + energy(end, t + h))

    def slopes(self, system, tau, g, xi, t, h):
        return slopes_by_autodiff(self, system, tau, g, xi, t, h)

    def work(self, system: StringSystem, tau, g, xi, t, h):
        end, before = moved(g, _change(g, tau.increment(system.group, h * xi)), 1.0), self.discrete.force
        given = system.outlet_rate(t, h), system.reel_speed(system.split(xi)[1], t, h)
        after = 0.0 if before == 1.0 else (1.0 - before) * h * system.forces(end, xi, t + h, given)
        return before * h * system.forces(g, xi, t, given), jnp.zeros_like(xi) + after


def _change(g: Any, increment: Any) -> Any:
    """g (e + increment) - g in the ambient space."""
    return increment._replace(R=g.R @ increment.R) if "R" in g._fields else increment
