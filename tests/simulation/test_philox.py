"""Normal numbers drawn by a program are NumPy's."""

import numpy as np
import pytest

import naiad as nd
from naiad.compiler import Compiled
from naiad.simulation.philox import Shape, standard_normals


@pytest.fixture(scope="module")
def normals():
    return Compiled(standard_normals, cache=False)


@pytest.mark.parametrize(("seed", "block"), [(0, 0), (7, 3), (2**128 - 1, 1), (0x123456789ABCDEF0FEDCBA9876543210, 9)])
def test_the_numbers_of_a_seed(normals, seed, block):
    """Among 60,000 there are hundreds in wedges and a dozen in the tail."""
    drawn = normals(Shape(20_000, 3), np.array(nd.Noise(seed).key), block)
    known = np.random.Generator(np.random.Philox(key=seed, counter=block << 128)).standard_normal((20_000, 3))
    assert np.mean(drawn == known) > 0.999
    np.testing.assert_allclose(drawn, known, rtol=1e-14)
    assert np.max(np.abs(known)) > 3.66


def test_many_seeds_side_by_side(normals):
    seeds = [nd.Noise(seed) for seed in range(5)]
    drawn = normals.batch(Shape(64, 2), np.array([noise.key for noise in seeds]), np.arange(5), shared=(0,))
    for k, noise in enumerate(seeds):
        alone = np.random.Generator(np.random.Philox(key=noise.seed, counter=k << 128)).standard_normal((64, 2))
        np.testing.assert_allclose(drawn[k], alone, rtol=1e-14)
