"""What a system has and a method does not honour is refused by name; what is accepted is right."""

import itertools
import time

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad import integrators
from naiad.control import Actuated
from naiad.integrators import AbstractMethod, AbstractOneStepMethod, check_method
from naiad.locomotion import DrivenSwimmer, FourierGait, net_motion, three_link_fish
from naiad.locomotion import connection as connection_of_shapes
from naiad.mechanics import LagrangianSystem
from naiad.mechanics.features import FEATURES, NEUTRAL, missing
from naiad.strings import StringSystem
from naiad.trees import JointSpace, TreeSystem
from tests.verification.drawn_systems import FAMILIES, draw
from tests.verification.feature_matrix import METHODS, cells, run
from tests.verification.problems import PROBLEMS


def test_every_hook_belongs_to_a_feature_or_changes_no_motion():
    of_features = {hook for feature in FEATURES.values() for hook in feature.hooks}
    assert of_features | set(NEUTRAL) >= set(LagrangianSystem.hooks)
    assert not of_features & set(NEUTRAL)


def test_every_feature_is_drawn_and_every_method_is_a_row():
    assert set().union(*(features for _, features in FAMILIES.values())) == set(FEATURES)
    public = {getattr(integrators, name) for name in integrators.__all__}
    methods = {each for each in public if isinstance(each, type) and issubclass(each, AbstractMethod)}
    shown = {type(method) for method, _ in METHODS.values()} | {AbstractMethod, AbstractOneStepMethod}
    assert methods <= shown


@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_declares_are_features(name):
    assert METHODS[name][0].honours <= set(FEATURES)


DECLARED = {
    "Variational": {"noise"},
    "VPRK": {"noise", "constraint"},
    "StochasticVariational": set(),
    "RK4": {"noise"},
    "Collocation": {"noise"},
    "ImplicitEuler": {"noise", "constraint"},
    "EnergySteps": {"noise", "constraint", "force", "dissipation"},
    "Projected, energy": {"noise", "force", "dissipation", "time"},
    "Projected, momentum": {"noise", "force", "dissipation"},
    "Nystrom": {"noise", "constraint", "dissipation"},
    "WisdomHolman": {"noise", "constraint", "dissipation"},
    "Reduced": {"noise", "constraint", "override"},
    "Splitting": {"noise", "constraint", "dissipation", "force", "override", "linear"},
    "SimoWong": {"noise", "constraint", "dissipation", "force", "override"},
    "Krysl": {"noise", "constraint", "dissipation", "force", "override"},
    "TreeVariational": {"noise", "discrete_lagrangian", "override"},
    "StringVariational": {"noise", "discrete_lagrangian", "override", "dissipation"},
    "Composition": {"noise"},
    "ReversibleSteps": {"noise"},
}
"""What each does not honour."""


@pytest.mark.parametrize("name", DECLARED)
def test_a_method_honours_all_but_these(name):
    assert set(FEATURES) - METHODS[name][0].honours == DECLARED[name]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_drawn_has_the_features_that_were_asked_for(family):
    """Without `linear`, which only numbers tell. A constraint of one's own on a tree stands in place of the tree's."""
    wanted = FAMILIES[family][1] - {"linear"}
    for features in (wanted, frozenset(), *(frozenset({each}) for each in sorted(wanted))):
        found = set(missing(frozenset({"linear"}), draw(family, features, 1).system))
        expected = set(features)
        if family == "tree" and "constraint" in features:
            expected |= {"override"}
        assert found == (expected - {"override"} if family == "planets" else expected)


def test_drawn_pairs_are_right_or_refused():
    """As many as fit in 20 seconds; `make audit-matrix` runs all of them, the slow tests many, and others each time."""
    _run_for(20.0, seed=1)


@pytest.mark.long
def test_many_drawn_pairs_are_right_or_refused():
    _run_for(600.0, seed=int(time.time()))


def _run_for(seconds: float, seed: int) -> None:
    end = time.monotonic() + seconds
    for cell in itertools.takewhile(lambda _: time.monotonic() < end, cells(seed)):
        found = run(*cell)
        assert found.outcome in ("right", "refused"), (cell, found)


class Free(nd.LagrangianSystem):
    group = nd.Rn(2)
    symmetry_dim = 2

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v

    def symmetry(self, s, q):
        return q + s


class Damped(Free):
    dissipation = np.array([[0.7, 0.1], [0.1, 0.5]])


class Gyrostat(nd.EulerPoincareSystem):
    group = nd.SO3()

    def reduced_lagrangian(self, xi):
        return 0.5 * xi @ (jnp.array([1.0, 2.0, 3.0]) * xi) + jnp.array([0.3, 0.5, 0.2]) @ xi


def test_splitting_refuses_a_term_that_is_linear_in_the_velocity():
    with pytest.raises(nd.InputError, match="linear in the velocity, which Splitting does not honour"):
        check_method(nd.Splitting(4), Gyrostat())


def test_projection_refuses_what_changes_the_invariants():
    class Swinging(Free):
        def lagrangian(self, q, v, t):
            return 0.5 * v @ v - 0.5 * q @ q * (1.0 + 0.3 * jnp.cos(t))

    class Guided(Free):
        def constraint(self, q, t):
            return 0.5 * (q @ q - 1.0)

    class Moved(Free):
        def constraint(self, q, t):
            return q[:1] - 0.1 * jnp.sin(t)

    energy, momentum = nd.Projected(nd.RK4()), nd.Projected(nd.RK4(), ("momentum",))
    for system in (Swinging(), Moved()):
        with pytest.raises(nd.InputError, match="a dependence on time, which Projected does not honour"):
            check_method(energy, system)
    with pytest.raises(nd.InputError, match=r"the constraint of Guided breaks the symmetry"):
        check_method(momentum, Guided())
    with pytest.raises(nd.InputError, match=r"the Lagrangian or the constraint of Swinging breaks the symmetry"):
        check_method(momentum, Swinging())
    with pytest.raises(nd.InputError, match="Damped has friction, which Projected does not honour"):
        check_method(momentum, Damped())
    check_method(momentum, Free())
    check_method(energy, Guided())


def test_friction_that_changes_with_time_is_a_dependence_on_time():
    class Warming(Free):
        def dissipation(self, q, t):
            return (1.0 + t) * jnp.eye(2)

    assert missing(frozenset({"linear"}), Warming()) == ["dissipation", "time"]
    assert missing(frozenset({"linear"}), Damped()) == ["dissipation"]


def test_friction_is_a_force():
    class Pushed(Free):
        def force(self, q, v, t):
            return -jnp.asarray(Damped.dissipation) @ v

    start = {"q": [0.0, 0.0], "v": [0.4, 1.0]}
    ends = [
        nd.simulate(each, each.state(**start), t1=1.0, dt=0.1, method=nd.Variational()).final
        for each in (Damped(), Pushed())
    ]
    np.testing.assert_allclose(ends[0].mu, ends[1].mu, rtol=0, atol=1e-15)
    held = Actuated(Damped(), np.zeros(2))
    moved = nd.simulate(held, held.state(**start), t1=1.0, dt=0.1, method=nd.Variational()).final
    np.testing.assert_allclose(moved.mu, ends[1].mu, rtol=0, atol=1e-15)
    assert np.linalg.norm(moved.mu - held.state(**start).mu) > 0.3


def test_the_families_of_trees_and_strings_refuse_what_stands_in_place_of_their_parts():
    tree, string = type(PROBLEMS["tree"].system), type(PROBLEMS["string"].system)

    class OwnLagrangian(tree):
        def lagrangian(self, g, xi, t):
            return 1.1 * super().lagrangian(g, xi, t)

    class OwnConstraint(tree):
        def constraint(self, g, t):
            return g.R[0, 2, 2:]

    class OwnDiscrete(tree):
        def discrete_lagrangian(self, g, xi, t, h, tau):
            return h * self.lagrangian(g, xi, t)

    class StringForce(string):
        def force(self, g, xi, t):
            return -xi

    class StringConstraint(string):
        def constraint(self, g, t):
            return g.q[0, :1]

    cases = [
        (OwnLagrangian, nd.TreeVariational(), "`lagrangian`"),
        (OwnConstraint, nd.TreeVariational(), "`constraint`"),
        (OwnDiscrete, nd.TreeVariational(), "a discrete Lagrangian of its own"),
        (StringForce, nd.StringVariational(), "`force`"),
        (StringConstraint, nd.StringVariational(), "`constraint`"),
    ]
    for cls, method, words in cases:
        plain = PROBLEMS["tree" if issubclass(cls, TreeSystem) else "string"].system
        system = object.__new__(cls)
        vars(system).update(vars(plain))
        with pytest.raises(nd.InputError, match=rf"{cls.__name__} has .*{words}.* does not honour\. Use Variational"):
            check_method(method, system)
        check_method(method, plain)
    assert issubclass(string, StringSystem)


def test_a_method_of_ones_own_takes_a_plain_lagrangian_until_it_says_more():
    class Drift(AbstractOneStepMethod):
        def order(self, system):
            return 1

        def symmetric(self, system):
            return False

        def memory(self, system, state, t):
            return ()

        def advance(self, system, state, memory, t, h, inputs):
            raise NotImplementedError

    check_method(Drift(), Free())
    with pytest.raises(nd.InputError, match=r"declare it in that class: honours = frozenset\(\{'dissipation'\}\)"):
        check_method(Drift(), Damped())

    class Careful(Drift):
        honours = frozenset({"dissipation"})

    check_method(Careful(), Damped())

    class Confused(Drift):
        honours = frozenset({"friction"})

    with pytest.raises(nd.InputError, match=r"Confused\.honours has friction; expected some of force, dissipation"):
        check_method(Confused(), Free())


def test_parts_of_a_system_are_not_lost():
    class Pulled(type(PROBLEMS["tree"].system)):
        def lagrangian(self, g, xi, t):
            return super().lagrangian(g, xi, t) - g.R[0, 2, 2]

    bodies = object.__new__(Pulled)
    vars(bodies).update(vars(PROBLEMS["tree"].system))
    with pytest.raises(nd.InputError, match=r"Pulled has its own `lagrangian` .* which JointSpace does not honour"):
        JointSpace(bodies)
    for hook in ("dissipation", "constraint", "limit", "diffusion"):
        held = type("Held", (Free,), {hook: lambda self, *given: jnp.eye(2)})()
        assert getattr(Actuated(held, np.zeros(2)), hook) is not None


def test_swimmers_that_are_pushed_have_no_geometry_of_gaits():
    fish = three_link_fish()

    class Pushed(type(fish)):
        def force(self, g, xi, t):
            return -xi

    pushed = object.__new__(Pushed)
    vars(pushed).update(vars(fish))
    gait = FourierGait.of([0.0, 0.0], [[0.3, 0.0]], [[0.0, 0.3]], 1.0)
    for refused in (
        lambda: connection_of_shapes(pushed, [0.1, 0.2]),
        lambda: net_motion(pushed, gait),
        lambda: DrivenSwimmer(pushed),
    ):
        with pytest.raises(nd.InputError, match="Pushed has a force, which what moves by its shape alone does not"):
            refused()


def test_a_motion_to_its_limit_has_no_state_after_it():
    class Walled(Free):
        def limit(self, q, t, h):
            return 1.0 - q[0]

    system = Walled()
    start = system.state(q=[0.0, 0.0], v=[1.0, 0.0])
    within, beyond = (nd.propagate(system, start, dt=0.1, steps=steps, method=nd.RK4()) for steps in (9, 12))
    assert np.all(np.isfinite(within.mu))
    assert np.all(np.isnan(beyond.mu))
    march = nd.diagnostics.march
    assert np.all(np.isnan(march(system, nd.RK4(), start, dt=0.1, steps=12).mu))
