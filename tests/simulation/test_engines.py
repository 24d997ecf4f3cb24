"""Both engines give one motion; an ensemble gives its single runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import Compiled
from naiad.simulation import loop
from naiad.simulation.plan import Cadence
from tests.verification.problems import PROBLEMS

TOP = PROBLEMS["heavy-top"]


class Hopeless(nd.LagrangianSystem):
    """A particle whose potential ends at q = 0.9: beyond it the Lagrangian is not a number."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - jnp.sum((0.9 - q) ** 1.5)


def height(state, t):
    return state.g[2, 2]


@pytest.mark.parametrize("method", [nd.Variational(), nd.Composition(nd.Variational(nd.Exponential()), 4), nd.RK4()])
def test_engines_agree_on_all_that_a_run_gives(method):
    def run(engine):
        return nd.simulate(
            TOP.system,
            TOP.state,
            t1=3.005,
            dt=0.02,
            method=method,
            save_every=7,
            outputs={"height": height, "twice": lambda state, t: 2.0 * state.mu},
            monitors={"energy": TOP.system.energy},
            sections={"level": nd.Section(lambda state, t: state.g[2, 2] - 0.5, direction=0)},
            engine=engine,
        )

    compiled, by_xla = run("compiled"), run("xla")
    assert compiled.outcome == by_xla.outcome == nd.Outcome.COMPLETED
    for name, values in by_xla.record.data_vars.items():
        np.testing.assert_allclose(compiled.record[name], values, rtol=0, atol=1e-12, err_msg=str(name))
    assert len(by_xla.crossings["level"].time) > 0
    for one, other in zip(compiled.monitors["energy"], by_xla.monitors["energy"], strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    iterations = "newton_iterations_max"
    assert compiled.statistics[iterations] == by_xla.statistics[iterations]


@pytest.mark.parametrize("engine", ["compiled", "xla"])
def test_a_failed_step_is_not_taken_on_either_engine(engine):
    start = Hopeless().state(q=[0.0], v=[2.0])
    with pytest.warns(RuntimeWarning, match="stopped at t ="):
        run = nd.simulate(Hopeless(), start, t1=10.0, dt=0.3, method=nd.RK4(), engine=engine)
    assert run.outcome in (nd.Outcome.NOT_FINITE, nd.Outcome.NEWTON_FAILED)
    assert np.all(np.isfinite(run.states.mu))
    assert run.attrs["t"] < 1.0


def filled(chunk):
    """A chunk with those rows only that were written."""

    def written(rows):
        return rows.count, jax.tree.map(lambda leaf: leaf[: int(rows.count)], rows.rows)

    is_rows = lambda x: isinstance(x, loop.Rows)  # noqa: E731
    return jax.tree.map(lambda x: written(x) if is_rows(x) else x, chunk, is_leaf=is_rows)


def test_an_ensemble_is_its_single_runs_bit_for_bit():
    """States, crossings, statistics and outcomes, with lanes that cross, end and iterate at different times."""
    section = nd.Section(lambda state, t: state.g[2, 2] - 0.4, direction=0, terminal=True)
    routine = loop.Routine(
        TOP.system, nd.Variational(), {"height": height}, {"energy": TOP.system.energy}, {"s": section}
    )
    rng = np.random.default_rng(3)
    count = 11
    momenta = TOP.state.mu + rng.standard_normal((count, 3))
    momenta[4] = 1e200  # one that fails at once
    attitudes = np.stack([np.asarray(nd.SO3().random(rng)) for _ in range(count)])
    begin, advance = Compiled(loop.start, parameters=(0,)), Compiled(loop.advance, parameters=(0,))
    steps = np.linspace(0.01, 0.2, count)

    rows = begin.batch(routine, nd.State(attitudes, momenta), np.zeros(count), steps, shared=(0,))[0]
    ensemble = advance.batch(routine, rows, 0.0, steps, 200, 200, Cadence(10), shared=(0, 2, 4, 5, 6))
    outcomes = set()
    for k in range(count):
        alone = begin(routine, nd.State(attitudes[k], momenta[k]), 0.0, steps[k])[0]
        alone = advance(routine, alone, 0.0, steps[k], 200, 200, Cadence(10))
        outcomes.add(int(alone[0].outcome))
        among = jax.tree.map(lambda leaf, k=k: leaf[k], ensemble)
        for one, many in zip(jax.tree.leaves(filled(alone)), jax.tree.leaves(filled(among)), strict=True):
            np.testing.assert_array_equal(one, many)
    assert {int(nd.Outcome.EVENT), int(nd.Outcome.COMPLETED)} < outcomes


def test_an_ensemble_over_parameters_does_not_take_the_first_for_all():
    """A parameter that is 1 in the first row only is not part of the code."""

    def energy(system, state):
        return system.energy(state)

    bodies = [nd.models.RigidBody(J) for J in ((1.0, 2.0, 3.0), (2.0, 1.0, 2.5), (1.5, 2.0, 1.0))]
    states = [body.state(Pi=(0.3, -0.7, 1.1)) for body in bodies]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *bodies)
    together = jax.tree.map(lambda *leaves: np.stack(leaves), *states)
    found = Compiled(energy, parameters=(0,)).batch(stacked, together)
    expected = [0.5 * np.sum(np.array([0.3, -0.7, 1.1]) ** 2 / J) for J in ((1, 2, 3), (2, 1, 2.5), (1.5, 2, 1))]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def rotors(count):
    class Rotors(nd.LagrangianSystem):
        """Rotors in a row, each coupled to its neighbours' attitudes."""

        J: np.ndarray
        k: float
        group = nd.Power(nd.SO3(), count)
        structure = nd.Chain(3)

        def lagrangian(self, R, xi, t):
            Omega = self.group.stack(xi)
            alignment = jnp.sum(R[1:, :, 2] * R[:-1, :, 2]) + 0.5 * R[0, 2, 2]
            return 0.5 * jnp.sum(Omega * (Omega @ self.J)) + self.k * alignment

    rng = np.random.default_rng(1)
    attitudes = np.stack([np.asarray(nd.SO3().random(rng)) for _ in range(count)])
    return Rotors(np.diag([1.0, 1.3, 0.8]), 0.7), nd.State(attitudes, 0.6 * rng.standard_normal(3 * count))


@pytest.mark.long
def test_the_program_of_a_long_chain_does_not_grow_with_it():
    def step(system, carry):
        return nd.Variational().step(system, carry, 0.0, 0.05)

    sizes = []
    for count in (40, 120):
        system, state = rotors(count)
        carry = Compiled(lambda s, x: nd.Variational().init(s, x, 0.0, 0.05))(system, state)
        compiled = Compiled(step, parameters=(0,))
        moved = compiled(system, carry)
        with jax.enable_x64(True):
            expected = jax.jit(step)(system, carry)
        for one, other in zip(jax.tree.leaves(moved.state), jax.tree.leaves(expected.state), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)
        sizes.append(sum(compiled.stats["operations"].values()))
    assert sizes[0] == sizes[1] < 10_000
