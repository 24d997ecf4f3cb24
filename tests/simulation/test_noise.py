"""Noise in the driver: one row a step whatever the engine and the pieces of a run, and what is refused."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import Compiled
from naiad.simulation.noise import BLOCK

BODY = nd.models.IsothermalRigidBody((1.0, 2.0, 3.0), (0.3, 0.4, 0.5), 0.5, kappa=0.7)
START = BODY.state(Omega=(0.1, 0.2, 0.3))
EULER = nd.StochasticVariational()
RIGID = nd.models.RigidBody((1.0, 2.0, 3.0))


def run(**options):
    return nd.simulate(BODY, START, **({"t1": 1.0, "dt": 0.02, "method": EULER, "noise": nd.Noise(7)} | options))


def test_rows_depend_on_the_seed_and_the_step_alone():
    noise = nd.Noise(seed=3)
    whole = noise.increments(2 * BLOCK + 10, 2, 0.04)
    for first, steps in ((0, 5), (BLOCK - 2, 5), (BLOCK, BLOCK), (2 * BLOCK + 9, 1), (17, 0)):
        np.testing.assert_array_equal(noise.increments(steps, 2, 0.04, first=first), whole[first : first + steps])
    np.testing.assert_allclose(whole, 0.4 * noise.increments(2 * BLOCK + 10, 2, 0.25), rtol=1e-15)
    assert not np.any(whole == nd.Noise(4).increments(2 * BLOCK + 10, 2, 0.04))


def test_increments_are_normal_and_independent():
    rows = nd.Noise(11).increments(200_000, 2, 0.25) / 0.5
    count = rows.size
    assert abs(rows.mean()) < 4 / np.sqrt(count)
    assert abs(rows.var() - 1) < 4 * np.sqrt(2 / count)
    assert abs(np.mean(rows**4) - 3) < 4 * np.sqrt(96 / count)
    for product in (rows[1:] * rows[:-1], rows[:, 0] * rows[:, 1], rows[BLOCK:] * rows[:-BLOCK]):
        assert abs(product.mean()) < 4 / np.sqrt(product.size)


def test_increments_given_by_the_user_repeat_the_seeded_run():
    seeded = run(t1=200.0, save_every=50)
    given = run(t1=200.0, save_every=50, noise=nd.Noise(7).increments(10_000, 3, 0.02))
    np.testing.assert_array_equal(given.states.mu, seeded.states.mu)
    np.testing.assert_array_equal(given.g, seeded.g)


def test_the_last_shorter_step_has_noise_of_its_own_length():
    seeded = run(t1=0.19, dt=0.02)
    rows = nd.Noise(7).increments(10, 3, 0.02)
    rows[-1] *= np.sqrt(0.01 / 0.02)
    np.testing.assert_allclose(run(t1=0.19, dt=0.02, noise=rows).final.mu, seeded.final.mu, rtol=0, atol=1e-15)
    assert seeded.attrs["noise"] == {"seed": "7", "used": 10}


def test_engines_see_the_same_noise():
    options = {
        "t1": 8.01,
        "save_every": 3,
        "monitors": {"energy": BODY.energy},
        "sections": {"u": nd.Section(lambda state, t: state.g[2, 2] - 0.8, direction=0)},
    }
    compiled, by_xla = (run(engine=engine, **options) for engine in ("compiled", "xla"))
    assert len(by_xla.crossings["u"].time) > 0
    for name, values in by_xla.record.data_vars.items():
        np.testing.assert_allclose(compiled.record[name], values, rtol=0, atol=1e-12, err_msg=str(name))
    assert compiled.monitors["energy"].mean == pytest.approx(by_xla.monitors["energy"].mean, rel=1e-12)
    np.testing.assert_allclose(compiled.crossings["u"]["R"][:, 2, 2], 0.8, atol=1e-14)


def test_saving_more_or_less_changes_nothing():
    """Chunks end where buffers are full: with every node saved, others than with few."""
    np.testing.assert_array_equal(run(t1=400.0, save_every=1).final.mu, run(t1=400.0, save_every=10_000).final.mu)


@pytest.mark.parametrize("middle", [0.64, 0.65])  # after a whole step, and after a shorter one
def test_resume_is_bitwise_and_goes_on_with_the_noise(middle, tmp_path):
    first = run(t1=middle)
    first.save(tmp_path / "run.zarr")
    again = nd.resume(nd.load(tmp_path / "run.zarr", BODY, EULER), t1=200.0)
    steps, rest = divmod(round(100 * middle), 2)
    assert first.attrs["noise"] == {"seed": "7", "used": steps + rest}
    if not rest:
        np.testing.assert_array_equal(again.final.mu, run(t1=200.0).final.mu)
    rows = nd.Noise(7).increments(again.attrs["steps"], 3, 0.02, first=steps + rest)
    if rest:
        rows[-1] *= np.sqrt(0.01 / 0.02)
    given = nd.resume(first, t1=200.0, noise=rows)
    np.testing.assert_allclose(given.final.mu, again.final.mu, rtol=0, atol=1e-15 if not rest else 1e-13)
    assert again.attrs["noise"]["used"] == steps + rest + len(rows)
    with pytest.raises(nd.InputError, match=r"takes 3 random increments a step; give noise="):
        nd.resume(run(t1=0.02, noise=np.zeros((1, 3))), t1=0.1)


def test_propagate_takes_increments_and_ensembles_run_in_lanes():
    rows = np.stack([nd.Noise(seed).increments(40, 3, 0.02) for seed in range(5)])

    def end(state, increments):
        return nd.propagate(BODY, state, dt=0.02, steps=40, method=EULER, noise=increments).mu

    lanes = Compiled(end).batch(START, rows, shared=(0,))
    for seed in range(5):
        single = run(t1=0.8, noise=nd.Noise(seed)).final.mu
        np.testing.assert_allclose(lanes[seed], single, rtol=0, atol=1e-15)
    with jax.enable_x64(True):
        along = jax.jvp(lambda x: end(START, x), (rows[0],), (np.eye(40, 3),))[1]
        there, back = (np.asarray(end(START, rows[0] + sign * 1e-6 * np.eye(40, 3))) for sign in (1, -1))
    np.testing.assert_allclose(along, (there - back) / 2e-6, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": None}, r"IsothermalRigidBody takes 3 random increments a step; give noise=Noise\(seed=7\), or an"),
        ({"noise": np.zeros((50, 2))}, r"noise has shape \(50, 2\), but the run takes 50 steps; .* shape \(50, 3\)"),
        ({"noise": np.zeros((49, 3))}, r"noise has shape \(49, 3\), but the run takes 50 steps"),
        ({"noise": 7}, r"noise has shape \(\), but the run takes 50 steps; give noise=Noise\(seed=7\)"),
        ({"noise": [[1.0], [2.0, 3.0]]}, r"noise has shape None"),
        ({"noise": np.full((50, 3), np.nan)}, r"noise holds NaN, infinite values, or what is no number"),
        ({"noise": np.full((50, 3), "x")}, r"noise holds NaN, infinite values, or what is no number"),
        (
            {"method": nd.Variational()},
            r"IsothermalRigidBody has noise, which Variational does not honour. Use StochasticVariational",
        ),
        ({"method": nd.Adjoint(EULER)}, r"has noise, which Adjoint does not honour. Use StochasticVariational"),
    ],
)
def test_bad_noise_is_refused(options, message):
    with pytest.raises(nd.InputError, match=message):
        run(**options)


def test_noise_that_nothing_takes_is_refused():
    for method in (None, EULER):
        with pytest.raises(nd.InputError, match=r"takes none for RigidBody; leave it out"):
            nd.simulate(RIGID, RIGID.state(), t1=1.0, dt=0.1, method=method, noise=nd.Noise(1))
    for seed, message in ((-1, "seed = -1; expected a whole"), (1.5, r"seed = 1\.5"), (True, "seed = True")):
        with pytest.raises(nd.InputError, match=message):
            nd.Noise(seed)
    with pytest.raises(nd.InputError, match="takes 3 random increments a step"):
        nd.propagate(BODY, START, dt=0.1, steps=2, method=EULER)
    with pytest.raises(nd.InputError, match="IsothermalRigidBody has noise, and no random increments are given here"):
        nd.diagnostics.march(BODY, EULER, START, dt=0.1, steps=2)


def test_methods_of_before_take_no_noise():
    assert all("noise" not in method.honours for method in (nd.Variational(), nd.RK4(), nd.Adjoint(EULER), nd.VPRK()))
    assert nd.Variational().noise_size(RIGID) == nd.RK4().noise_size(RIGID) == 0
