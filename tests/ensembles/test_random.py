"""Ensembles drawn at random, in memory, on disk and among objects, left alone or interrupted: each run is the single
one, bit for bit, and the statistics are those of other blocks."""

import functools
import uuid
import warnings
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naiad as nd
from naiad.ensembles import Each, Histogram, Mean, Quantiles, Variance, many
from naiad.errors import InputError, RunError
from tests.ensembles.comparison import same, same_run

BODIES = [nd.models.RigidBody(J=(1.1, J, 3.0)) for J in np.linspace(2.1, 2.9, 11)]
DISKS = [nd.models.SlidingDisk(m, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7) for m in np.linspace(1.1, 1.9, 11)]


class Escaping(nd.LagrangianSystem):
    """A particle that reaches infinity in a finite time if it starts beyond 1."""

    depth: float
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - self.depth * (0.5 * q[0] ** 2 - 0.25 * q[0] ** 4)


ESCAPING = [Escaping(depth) for depth in np.linspace(0.5, 1.5, 11)]


class Kind(NamedTuple):
    systems: list
    states: list
    method: nd.integrators.AbstractMethod
    momentum: str
    functions: dict
    noisy: bool = False


def energy(system, state, t):
    return system.energy(state, t)


KINDS = [
    Kind(
        BODIES,
        [body.state(Omega=(0.3, 1.0, 0.02 * k)) for k, body in enumerate(BODIES)],
        nd.Variational(),
        "Pi",
        {"sections": {"y": nd.Section(lambda state, t: state.g[1, 1], 0)}, "monitors": {"E": energy}},
    ),
    Kind(
        DISKS,
        [disk.state(q=(0.1 * k, 0.0)) for k, disk in enumerate(DISKS)],
        nd.StochasticVariational(),
        "p",
        {"outputs": {"E": energy}},
        noisy=True,
    ),
    Kind(
        ESCAPING,
        [system.state(q=[0.15 * k]) for k, system in enumerate(ESCAPING)],
        nd.Variational(),
        "p",
        {
            "outputs": {"E": energy},
            "monitors": {"E": energy},
            "sections": {"edge": nd.Section(lambda state, t: state.g[0] - 1.3, terminal=True)},
        },
    ),
]


def reduce(kind):
    return {
        "mean": Mean(kind.momentum),
        "variance": Variance(energy, times=True),
        "quantiles": Quantiles(kind.momentum, [0.1, 0.5]),
        "histogram": Histogram(kind.momentum, [-1.0, 0.0, 1.0, 3.0]),
        "each": Each(lambda times, states: states.mu[-1] * times[-1]),
    }


@st.composite
def ensembles(draw):
    kind = draw(st.sampled_from(KINDS))
    runs = draw(st.integers(1, 11))
    own = draw(st.booleans())

    def each(values):
        """One for all, or one for each."""
        return [draw(values) for _ in range(runs)] if own and draw(st.booleans()) else draw(values)

    options = {
        "t1": each(st.sampled_from([0.3, 1.0, 2.03])),
        "dt": each(st.sampled_from([0.1, 0.03])),
        "save_every": each(st.integers(1, 40)),
        **kind.functions,
    }
    if "outputs" in kind.functions and draw(st.booleans()):
        options["output_every"] = draw(st.integers(1, 7))
    if kind.noisy:
        options["noise"] = [nd.Noise(draw(st.integers(0, 5))) for _ in range(runs)]
    return kind, runs, options


def interrupting(after):
    """A progress that interrupts when it has been told so often."""
    left = iter(range(after))

    def progress(fraction):
        if next(left, None) is None:
            raise KeyboardInterrupt

    return progress


def given_to(k, options):
    """The options of run k alone."""
    return {name: value[k] if isinstance(value, list) else value for name, value in options.items()}


def made(kind, runs, options, out, after, **more):
    """The ensemble, which is interrupted in each attempt one step later, and goes on."""
    systems, states = kind.systems[:runs], kind.states[:runs]
    simulate = functools.partial(nd.simulate_many, systems, states, method=kind.method, out=out, **options, **more)
    if after is None or out is None:
        return simulate()
    try:
        return simulate(progress=interrupting(after))
    except RunError:
        while True:
            after += 1
            try:
                return nd.resume_many(out, systems, kind.method, progress=interrupting(after), **kind.functions, **more)
            except RunError:
                continue


@settings(max_examples=8)
@given(
    ensembles(),
    st.sampled_from([4, 8]),
    st.sampled_from([None, "folder", "memory"]),
    st.none() | st.integers(0, 3),
    st.booleans(),
)
def test_each_is_its_single_run(tmp_path_factory, ensemble, size, where, after, reduced):
    kind, runs, options = ensemble
    name = f"{uuid.uuid4().hex}.zarr"
    out = {"folder": tmp_path_factory.getbasetemp() / name, "memory": f"memory://{name}"}.get(where)
    with warnings.catch_warnings(), mock.patch.multiple(many, LEAST_BLOCK=size, LARGEST_BLOCK=size):
        warnings.simplefilter("ignore", nd.RunWarning)
        whole = made(kind, runs, options, out, after)
        for k in range(runs):
            alone = nd.simulate(kind.systems[k], kind.states[k], method=kind.method, **given_to(k, options))
            same_run(whole[k], alone)
        if out is not None:
            same(nd.load_many(out, kind.systems[:runs], kind.method, **kind.functions), whole)
        if reduced:
            check_reduced(kind, runs, options, None if out is None else f"{out}.reduced.zarr", after)


def check_reduced(kind, runs, options, out, after):
    statistics = reduce(kind)
    if any(isinstance(options[name], list) for name in ("t1", "dt", "save_every")):
        with pytest.raises(InputError, match="times of their own"):
            made(kind, runs, options, out, after, reduce=statistics)
        statistics = {name: statistics[name] for name in ("variance", "each")}
    few = made(kind, runs, options, out, after, reduce=statistics)
    with mock.patch.multiple(many, LEAST_BLOCK=32, LARGEST_BLOCK=32):
        again = made(kind, runs, options, None, None, reduce=statistics)
    assert few.reduced.identical(again.reduced)
    same(few, again)
