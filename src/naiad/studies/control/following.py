"""The live page of an optimum: the plant under its controls, with what may go wrong, and with feedback."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.studies.live import LivePage
from naiad.viz.live import Slider


def following_page(
    plan: nd.control.Solution, plant: Callable[[Any], nd.LagrangianSystem], sliders: Mapping[str, Any], off: float
) -> LivePage:
    """The page on which a plant follows a plan. `plant` is the real system of a study whose parameters, those of
    `sliders`, may be others than in the plan; the start may be displaced by up to `off`."""
    follower = nd.control.steered(plan)
    n, first = follower.group.dim, jax.tree.map(lambda leaf: leaf[0], plan.states)

    def build(study: Any) -> tuple[nd.LagrangianSystem, nd.State]:
        real, model = plant(study), follower.model
        g = model.group.compose(first.g, model.group.exp(jnp.asarray(study.off)))
        start = nd.State(g, real.legendre(g, model.velocity(first.g, first.mu)))
        return follower.replaced(system=real, feedback=study.feedback), start

    after = "the goal is held" if follower.holds else "the controls are zero, since none hold the goal"
    return LivePage(
        build,
        {
            "feedback": Slider(0.0, 1.0, 1.0, help="0: the optimal controls alone"),
            "off": Slider(-off, off, np.zeros(n), help="of the start, along each freedom"),
            **sliders,
        },
        {f"steps of {plan.T / len(plan.u):.3g} s": follower.method},
        follower.length,
        2.0 * plan.T,
        outputs={"distance from the goal": _distance, "distance from the optimum": _deviation, "controls": _controls},
        step=(follower.length / 8.0, follower.length),
        note=f"a plant that follows the optimum, with feedback; after {plan.T:.3g} s {after}",
    )


def _distance(system: nd.control.Steered, state: nd.State, t: Any) -> Any:
    group = system.group
    away = group.log(group.compose(group.inverse(jax.tree.map(jnp.asarray, system.goal.g)), state.g))
    return jnp.sqrt(away @ away)


def _deviation(system: nd.control.Steered, state: nd.State, t: Any) -> Any:
    away = system.off(state, t)[: system.group.dim]
    return jnp.sqrt(away @ away)


def _controls(system: nd.control.Steered, state: nd.State, t: Any) -> Any:
    return system.command(state, t)
