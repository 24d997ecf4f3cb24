"""NumPy's normal numbers from Philox as a function that JAX can trace, so that they can be drawn where they are used:
the generator of ten rounds on 64-bit words [salmon2011] and the ziggurat of 256 layers [marsaglia2000].

The numbers are those of `Generator(Philox(key=seed, counter=block << 128)).standard_normal`, to the last digit but
where a logarithm or an exponential of another library differs (one in some thousands).
"""

import bisect
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from naiad.numerics import Module, static

ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
EDGE = 3.6541528853610087963519472518  # where the tail begins, of 256 layers
INVERSE_EDGE = 0.27366123732975827203338247596
HALF = 0xFFFFFFFF


class Layers(NamedTuple):
    """The ziggurat: widths over 2^52, the whole numbers below which a point is inside, and the density at the edges."""

    widths: np.ndarray
    inside: np.ndarray
    density: np.ndarray


@functools.cache
def layers() -> Layers:
    """The layers that NumPy has, read from what it makes of words that are put before it: the point 1 of each layer,
    and where the points begin that take more than one word."""
    generator = np.random.Philox(0)
    draw, state = np.random.Generator(generator).standard_normal, generator.state

    def drawn(layer: int, whole: int) -> tuple[float, int]:
        """The number from a word, and how many words it took."""
        state["buffer"][:] = (whole << 9 | layer, 0, 2**63, 0)  # in a wedge or the tail, the next ones are accepted
        state["buffer_pos"] = 0
        generator.state = state
        return float(draw()), int(generator.state["buffer_pos"])

    widths = np.array([drawn(layer, 1)[0] for layer in range(256)])
    inside = np.array([bisect.bisect_left(range(2**52), 2, key=lambda m, i=i: drawn(i, m)[1]) for i in range(256)])
    return Layers(widths, inside, np.append(1.0, np.exp(-0.5 * (2.0**52 * widths[1:]) ** 2)))


class Shape(Module):
    """Rows of numbers, and how many in each."""

    rows: int = static()
    size: int = static()


def standard_normals(shape: Shape, key: Int[Array, " 2"], block: Int[Array, ""]) -> Float[Array, "rows size"]:
    """The numbers of a block."""
    widths, inside, density = map(jnp.asarray, layers())

    def place(i, state):
        numbers, stream = state
        x, stream = _normal(stream, widths, inside, density)
        return numbers.at[i].set(x), stream

    start = _Stream(key, jnp.asarray(block), jnp.zeros((), int), *(jnp.zeros((), int) for _ in range(4)))
    numbers = jax.lax.empty((shape.rows * shape.size,), float)
    filled, _ = jax.lax.fori_loop(0, shape.rows * shape.size, place, (numbers, start))
    return filled.reshape(shape.rows, shape.size)


class _Stream(NamedTuple):
    """The words of a block of counters: how many were taken, and the four that were made last."""

    key: Int[Array, " 2"]
    block: Int[Array, ""]
    taken: Int[Array, ""]
    a: Int[Array, ""]
    b: Int[Array, ""]
    c: Int[Array, ""]
    d: Int[Array, ""]

    def next(self) -> "tuple[Int[Array, ''], _Stream]":
        """A word of 64 bits."""
        which = self.taken & 3

        def anew():
            return _philox((self.taken >> 2) + 1, self.block, self.key)

        words = jax.lax.cond(which == 0, anew, lambda: self[3:])
        a, b, c, d = words
        word = jnp.where(which < 2, jnp.where(which == 0, a, b), jnp.where(which == 2, c, d))
        return word, _Stream(self.key, self.block, self.taken + 1, *words)

    def uniform(self) -> "tuple[Float[Array, ''], _Stream]":
        """A number in [0, 1)."""
        word, later = self.next()
        return ((word >> 11) & (2**53 - 1)).astype(float) * 2.0**-53, later


def _philox(count: Int[Array, ""], block: Int[Array, ""], key: Int[Array, " 2"]) -> tuple[Int[Array, ""], ...]:
    zero = jnp.zeros((), int)
    a, b, c, d = count, zero, block, zero
    for k in range(ROUNDS):
        high, low = _product(c, MULTIPLIERS[1])
        higher, lower = _product(a, MULTIPLIERS[0])
        a, b, c, d = (
            high ^ b ^ (key[0] + _signed(k * WEYL[0])),
            low,
            higher ^ d ^ (key[1] + _signed(k * WEYL[1])),
            lower,
        )
    return a, b, c, d


def _product(a: Int[Array, ""], factor: int) -> tuple[Int[Array, ""], Int[Array, ""]]:
    """The upper and the lower word of a product."""
    low, high, by_low, by_high = a & HALF, (a >> 32) & HALF, factor & HALF, factor >> 32
    cross, other = low * by_high, high * by_low
    middle = ((low * by_low >> 32) & HALF) + (cross & HALF) + (other & HALF)
    return high * by_high + ((cross >> 32) & HALF) + ((other >> 32) & HALF) + (middle >> 32), a * _signed(factor)


def _signed(word: int) -> int:
    return (word + 2**63) % 2**64 - 2**63


def _normal(stream: _Stream, widths: Array, inside: Array, density: Array) -> tuple[Float[Array, ""], _Stream]:
    def again(state):
        return ~state[0]

    def attempt(state):
        _, _, stream = state
        word, stream = stream.next()
        layer, whole = word & 0xFF, (word >> 9) & (2**52 - 1)
        size = whole.astype(float) * widths[layer]
        x = jnp.where((word >> 8) & 1 == 1, -size, size)

        def rare():
            return jax.lax.cond(layer == 0, lambda: _tail(whole, stream), lambda: wedge())

        def wedge():
            u, later = stream.uniform()
            edge = density[layer]
            height = (density[layer - 1] - edge) * u + edge
            return height < jnp.exp(-0.5 * x * x), x, later

        return jax.lax.cond(whole < inside[layer], lambda: (jnp.ones((), bool), x, stream), rare)

    _, x, stream = jax.lax.while_loop(again, attempt, (jnp.zeros((), bool), jnp.zeros(()), stream))
    return x, stream


def _tail(whole: Int[Array, ""], stream: _Stream) -> tuple[Array, Array, _Stream]:
    def again(state):
        return ~state[0]

    def attempt(state):
        u, stream = state[2].uniform()
        v, stream = stream.uniform()
        beyond, room = -INVERSE_EDGE * jnp.log1p(-u), -jnp.log1p(-v)
        return room + room > beyond * beyond, beyond, stream

    _, beyond, stream = jax.lax.while_loop(again, attempt, (jnp.zeros((), bool), jnp.zeros(()), stream))
    x = EDGE + beyond
    return jnp.ones((), bool), jnp.where((whole >> 8) & 1 == 1, -x, x), stream
