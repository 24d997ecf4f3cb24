"""Statistics without the runs are those of the runs."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.ensembles import Each, Histogram, Mean, Quantiles, Variance, many
from naiad.errors import InputError

BODY = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
RNG = np.random.default_rng(4)
STATES = [BODY.state(Omega=(0.0, 1.0, 0.0) + 0.1 * RNG.standard_normal(3)) for _ in range(101)]
OPTIONS = {"t1": 20.0, "dt": 0.02, "save_every": 50}
Q = [0.0, 0.05, 0.5, 0.95, 1.0]


@pytest.fixture(scope="module")
def kept():
    return nd.simulate_many(BODY, STATES, **OPTIONS)


@pytest.fixture(params=[8, 1024])
def blocks(request, monkeypatch):
    monkeypatch.setattr(many, "LEAST_BLOCK", request.param)
    monkeypatch.setattr(many, "LARGEST_BLOCK", request.param)


def spin(system, state, t):
    return jnp.sum(system.velocity(state.g, state.mu, t) ** 2)


def test_they_are_those_of_the_runs(kept, blocks):
    edges = np.linspace(-3.0, 3.0, 13)
    reduce = {
        "mean": Mean("Pi"),
        "all": Mean("energy", times=True),
        "variance": Variance(spin),
        "quantiles": Quantiles("Pi", Q),
        "every": Quantiles("R", 0.5, times=True),
        "histogram": Histogram("Pi", edges),
        "least": Each(lambda t, states: jnp.min(states.g[:, 1, 1])),
        "last": Each(lambda t, states: states.mu[-1] * t[-1]),
    }
    found = nd.simulate_many(BODY, STATES, reduce=reduce, **OPTIONS)
    Pi, R = kept.record["Pi"].to_numpy(), kept.record["R"].to_numpy()
    few = found.reduced
    assert few["mean"].dims == ("time", "mean_0")
    assert few["mean"].to_numpy() == pytest.approx(Pi.mean(axis=0), abs=1e-14)
    assert few["all"].item() == pytest.approx(kept.energy.mean().item(), abs=1e-13)
    speed = kept.evaluate(spin).to_numpy()
    assert few["variance"].to_numpy() == pytest.approx(speed.var(axis=0, ddof=1), abs=1e-14)
    exact = np.moveaxis(np.quantile(Pi, Q, axis=0, method="inverted_cdf"), 0, -1)
    assert few["quantiles"].to_numpy() == pytest.approx(exact, rel=2.0**-10, abs=1e-300)
    median = np.quantile(R.reshape(-1, 3, 3), 0.5, axis=0, method="inverted_cdf")
    assert few["every"].to_numpy()[..., 0] == pytest.approx(median, rel=2.0**-10, abs=1e-300)
    counts = [[np.histogram(Pi[:, i, j], edges)[0] for j in range(3)] for i in range(Pi.shape[1])]
    np.testing.assert_array_equal(few["histogram"], counts)
    np.testing.assert_array_equal(few["least"], R[:, :, 1, 1].min(axis=1))
    np.testing.assert_array_equal(few["last"], Pi[:, -1] * 20.0)
    assert few["time"].identical(kept.record["time"].drop_vars([]))
    assert found.outcomes == kept.outcomes
    np.testing.assert_array_equal(found.runs["turn_max"], kept.runs["turn_max"])


class Escaping(nd.LagrangianSystem):
    """A particle that reaches infinity in a finite time if it starts beyond 1."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q[0] ** 2 + 0.25 * q[0] ** 4


@pytest.mark.filterwarnings("ignore::naiad.errors.RunWarning")
def test_runs_that_have_ended_are_left_out(blocks):
    system = Escaping()
    states = [system.state(q=[q]) for q in np.linspace(0.1, 1.5, 20)]
    options = {"t1": 20.0, "dt": 0.05, "save_every": 20}
    reduce = {"mean": Mean("q"), "variance": Variance("q"), "median": Quantiles("q", 0.5)}
    few, kept = (
        nd.simulate_many(system, states, reduce=reduce, **options).reduced,
        nd.simulate_many(system, states, **options),
    )
    q = kept.record["q"]
    assert np.isnan(q[:, -1]).sum() > 3
    assert few["mean"].to_numpy() == pytest.approx(q.mean("run").to_numpy(), rel=1e-12, abs=1e-14)
    assert few["variance"].to_numpy() == pytest.approx(q.var("run", ddof=1).to_numpy(), rel=1e-12, abs=1e-14)
    exact = np.nanquantile(q.to_numpy(), 0.5, axis=0, method="inverted_cdf")
    assert few["median"].to_numpy()[..., 0] == pytest.approx(exact, rel=2.0**-10)


@pytest.mark.filterwarnings("ignore::naiad.errors.RunWarning")
def test_the_bits_do_not_depend_on_the_blocks(monkeypatch, tmp_path):
    system = Escaping()
    states = [system.state(q=[q]) for q in np.linspace(0.1, 1.5, 101)]
    reduce = {
        "mean": Mean("q"),
        "all": Mean("q", times=True),
        "variance": Variance("energy"),
        "spread": Variance("q", times=True),
        "median": Quantiles("q", 0.5),
        "histogram": Histogram("q", [-1.0, 0.0, 2.0], times=True),
        "last": Each(lambda t, states: states.mu[-1]),
    }
    found = []
    for size in (4, 16, 32, 128):
        monkeypatch.setattr(many, "LEAST_BLOCK", size)
        monkeypatch.setattr(many, "LARGEST_BLOCK", size)
        for out in (None, tmp_path / f"{size}.zarr"):
            few = nd.simulate_many(system, states, t1=20.0, dt=0.05, save_every=20, reduce=reduce, out=out)
            found.append(few.reduced)
    assert np.isnan(found[0]["last"]).any()
    for other in found[1:]:
        assert other.identical(found[0])


def test_bins_of_quantiles_keep_the_order_of_all_numbers():
    x = np.concatenate([-np.logspace(-300, 300, 4001), [-0.0, 0.0], np.logspace(-300, 300, 4001)])
    part = Quantiles("x", [0.25, 0.75]).part(np.sort(x)[:, None])
    assert np.all(np.diff(part["bins"]) > 0)
    found = Quantiles("x", [0.25, 0.75]).result(part)
    assert found[0] == pytest.approx(np.quantile(x, [0.25, 0.75], method="inverted_cdf"), rel=2.0**-10)


def test_bad_input():
    def refused(match, **options):
        with pytest.raises(InputError, match=match):
            nd.simulate_many(BODY, STATES[:3], **{"t1": 1.0, "dt": 0.1} | options)

    refused("there is no 'depth' along time; there are R, Pi and energy", reduce={"a": Mean("depth")})
    refused("a statistic is named 'time'; expected letters", reduce={"time": Mean("Pi")})
    refused("none of J, run, time", reduce={"J": Mean("Pi")}, cases=nd.grid(J=[1.0, 2.0, 3.0]))
    refused("a statistic is named 'a/b'", reduce={"a/b": Mean("Pi")})
    refused("times of their own", reduce={"a": Mean("Pi")}, dt=[0.1, 0.05, 0.1])
    for make, match in (
        (lambda: Histogram("Pi", [1.0, 1.0]), "expected at least two numbers"),
        (lambda: Quantiles("Pi", 1.5), "shares from 0 to 1"),
    ):
        with pytest.raises(InputError, match=match):
            make()
    few = nd.simulate_many(BODY, STATES[:3], t1=1.0, dt=0.1, reduce={"a": Mean("Pi")})
    for look in (lambda: few[0], lambda: few.record, lambda: few.energy, lambda: few.states):
        with pytest.raises(InputError, match="The runs were not kept"):
            look()
    with pytest.raises(InputError, match="No statistics were asked for"):
        _ = nd.simulate_many(BODY, STATES[:3], t1=1.0, dt=0.1).reduced
