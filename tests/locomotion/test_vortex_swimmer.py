"""A swimmer among vortices: what it keeps, its order, and the fish alone where vortices are weak."""

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.locomotion import FourierGait, SwimmerAmongVortices, net_motion, three_link_fish

GAIT = FourierGait.of([0.0, 0.0], [[-0.6, 0.0]], [[0.0, 0.6]])
PLACES = np.array([[3.0, 2.5], [3.0, -2.5]])


def fish(**options):
    return three_link_fish(1.0, 0.25, 0.25, fluid=1.0, density=1.0, points=32, **options)


def test_it_starts_with_the_impulse_of_the_vortices_alone():
    system = SwimmerAmongVortices(fish(coupled=True), GAIT, [0.5, -0.4])
    state = system.start(PLACES, pose=(0.3, 0.1, 0.2))
    gamma = np.array([0.5, -0.4])
    linear = gamma @ np.stack([PLACES[:, 1], -PLACES[:, 0]], axis=1)
    angular = -0.5 * gamma @ np.sum(PLACES**2, axis=1)
    assert np.asarray(system.noether(state)) == pytest.approx([angular, *linear], abs=1e-14)


def test_vortices_in_a_link_or_none_at_all_are_refused():
    swimmer = fish(coupled=True)
    with pytest.raises(InputError, match="not coupled by the fluid; give coupled=True"):
        SwimmerAmongVortices(fish(), GAIT, [1.0])
    with pytest.raises(InputError, match="there is no vortex"):
        SwimmerAmongVortices(swimmer, GAIT, [])
    system = SwimmerAmongVortices(swimmer, GAIT, [0.5, -0.4])
    with pytest.raises(InputError, match="so near the wall or another vortex"):
        system.start([(0.0, 0.1), (3.0, 3.0)])  # inside the middle link
    with pytest.raises(InputError, match="so near the wall or another vortex"):
        system.start([(0.0, 0.26), (3.0, 3.0)])  # too near for its nodes


@pytest.mark.long
def test_impulse_is_kept_and_the_step_is_of_second_order():
    system = SwimmerAmongVortices(fish(coupled=True), GAIT, [0.5, -0.5])
    state = system.start(PLACES, held=True)
    ends = []
    for steps in (32, 64, 128):
        run = nd.simulate(system, state, t1=2.0 * np.pi, dt=2.0 * np.pi / steps, engine="compiled", progress=False)
        impulse = run.momentum.to_numpy()
        assert np.max(np.abs(impulse - impulse[0])) < 1e-13
        ends.append(np.array([run.final.g.body.beta, *run.final.g.body.x]))
    assert ends[-1] == pytest.approx([-0.0279798, 0.3365924, -0.0854117], abs=2e-4)
    assert np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2]) == pytest.approx(4.0, rel=0.1)
    weak = SwimmerAmongVortices(fish(coupled=True), GAIT, [1e-9, -1e-9])
    run = nd.simulate(weak, weak.start(PLACES), t1=2.0 * np.pi, dt=2.0 * np.pi / 128, engine="compiled", progress=False)
    alone = np.asarray(net_motion(system.swimmer, GAIT).x)
    assert run.final.g.body.x == pytest.approx(alone, abs=1e-3)
