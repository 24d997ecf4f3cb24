"""Long programs: with arrays in memory where that makes them much shorter, and as they are where it does not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
import naiad.compiler as nc
from naiad.compiler import length
from naiad.compiler.front.trace import trace
from naiad.compiler.length import finished
from naiad.compiler.passes.finish import finish
from tests.compiler.compare import assert_close, assert_rows, xla

RNG = np.random.default_rng(8)
A, B = RNG.standard_normal((2, 9, 9))


def jaxpr_of(function, *args):
    with jax.enable_x64(True):
        return jax.make_jaxpr(function)(*args)


def chosen(function, *args):
    return finished(jaxpr_of(function, *args), platform="cpu", most_scalars=1024, fma=True)


def as_scalars(function, *args):
    return finish(trace(jaxpr_of(function, *args), platform="cpu"), fma=True)


def random_program(seed):
    """Twelve operations on matrices of 9 x 9, drawn at random, all of each kind among them, and the sum of all."""
    rng = np.random.default_rng(seed)
    kinds = [*rng.permutation(8), 0, *rng.integers(0, 8, 3)]
    steps = [(int(kind), *map(int, rng.integers(0, 2 + k, 2))) for k, kind in enumerate(kinds)]
    order = rng.permutation(9)

    def function(A, B):
        made = [A, B]
        for kind, i, j in steps:
            x, y = made[i], made[j]
            made.append(
                [
                    lambda x, y: x @ y / 9.0,
                    lambda x, y: jnp.sin(x) + y.T,
                    lambda x, y: jnp.where(x > y, x, 0.5 * y),
                    lambda x, y: jnp.concatenate([x[4:], y[:4]]),
                    lambda x, y: x[order] - y[:, ::-1],
                    lambda x, y: jnp.cumsum(x, axis=1) * 0.1 + jnp.max(y, axis=0),
                    lambda x, y: x.at[3:9, 2].add(y[0, :6]),
                    lambda x, y: jax.lax.scan(lambda c, row: (jnp.tanh(c + row), c), y[0], x)[1],
                ][kind](x, y)
            )
        return sum(made)

    return function


def test_a_long_program_gets_loops():
    def power(A):
        for _ in range(4):
            A = A @ A / 30.0
        return A

    A = RNG.standard_normal((30, 30))
    compiled = nc.compile(power, cache=False)
    assert_close([compiled(A)], xla(power, A))
    assert compiled.stats["operations"]["loop"] >= 8
    assert sum(compiled.stats["operations"].values()) < 500  # 108,000 products otherwise
    assert chosen(lambda A: A @ A, A[:20, :20]).stats.get("loop") is None  # 8,000 products


@pytest.mark.parametrize("seed", range(2))
def test_both_ways_give_the_numbers_of_xla(seed, monkeypatch):
    function = random_program(seed)
    expected = xla(function, A, B)
    for long, loops in ((10**6, False), (300, True)):
        monkeypatch.setattr(length, "LONG", long)
        compiled = nc.compile(function, cache=False, fma=seed != 0)
        assert_close(compiled(A, B), expected, 1e-12)
        assert (sum(compiled.stats["operations"].values()) < 2200) == loops
    assert_rows(compiled, np.stack([A, B, A + B]), np.stack([B, A, A - B]), sizes=(3,))


def test_small_programs_are_as_they_are():
    """A step of a vehicle is written out, whatever could be in memory."""
    vehicle = nd.models.KirchhoffBody.from_shape(nd.hydro.Ellipsoid((2.0, 0.8, 0.5)), 1000.0)
    state = vehicle.state(Omega=(0.1, 0.2, 0.3), v=(1.0, 0.0, 0.1))

    def step(vehicle, state, h):
        method = nd.Variational()
        return method.state(vehicle, method.step(vehicle, method.init(vehicle, state, 0.0, h), 0.0, h))

    program = chosen(step, vehicle, state, 0.01)
    assert str(program) == str(as_scalars(step, vehicle, state, 0.01))
    assert 500 < program.length < length.LONG


def test_a_program_that_loops_do_not_shorten_is_written_out(monkeypatch):
    def turns(x):
        for k in range(60):
            x = jnp.cross(x, jnp.cos(x + k))
        return x

    monkeypatch.setattr(length, "LONG", 100)
    assert str(chosen(turns, A[0, :3])) == str(as_scalars(turns, A[0, :3]))


def test_what_is_hopeless_is_not_looked_at_to_its_end(monkeypatch):
    monkeypatch.setattr(length, "LONG", 300)
    monkeypatch.setattr(length, "HOPELESS", 1000)
    asked = []
    monkeypatch.setattr(length, "trace", lambda *args, **how: asked.append(how) or trace(*args, **how))
    assert chosen(lambda A: A @ A @ A, np.tile(A, (2, 2))).stats["loop"] > 0
    assert [(how["most_scalars"], how["longest"]) for how in asked] == [(1024, 1000), (64, None)]
