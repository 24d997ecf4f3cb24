"""A vehicle with eight thrusters: a controller of 50 Hz in a Python loop, one sample at a time."""

import time

import numpy as np
from clock import part

import naiad as nd
from naiad import hydro

WEIGHT, BUOYANCY, GRAVITY = 11.5 * 9.82, 114.8, 9.82
dry = hydro.rigid_inertia(11.5, (0.16, 0.16, 0.16), centre=(0, 0, 0.02))
added = hydro.angular_first(np.diag([5.5, 12.7, 14.57, 0.12, 0.12, 0.12]))
drag = nd.models.Drag(linear=(0.07, 0.07, 0.07, 4.03, 6.22, 5.18), quadratic=(1.55, 1.55, 1.55, 18.18, 21.66, 36.99))
c = np.cos(np.pi / 4)
fore_and_aft = [[0.156, 0.111, 0.085], [0.156, -0.111, 0.085], [-0.156, 0.111, 0.085], [-0.156, -0.111, 0.085]]
vertical = [[0.12, 0.218, 0], [0.12, -0.218, 0], [-0.12, 0.218, 0], [-0.12, -0.218, 0]]
places = np.array([*fore_and_aft, *vertical])
directions = np.array([[c, -c, 0], [c, c, 0], [-c, -c, 0], [-c, c, 0], [0, 0, -1], [0, 0, 1], [0, 0, 1], [0, 0, -1.0]])
allocation = np.linalg.pinv(np.hstack([np.cross(places, directions), directions]).T)
goal, dt = np.array([1.0, 0.5, 0.8]), 0.02


def vehicle(thrust):
    forces = (drag, nd.models.Thrusters(points=places, directions=directions, thrust=thrust))
    return nd.models.SubmergedBody(
        dry, added, displaced=BUOYANCY / GRAVITY, gravity=(0, 0, GRAVITY), current=(0.1, 0.05, 0.0), forces=forces
    )


def controller(state, velocity):
    R, x = state.g
    skew = 0.5 * (R - R.T)
    turn = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    wanted = np.concatenate([-4 * turn - 2 * velocity[:3], 12 * R.T @ (goal - x) - 14 * velocity[3:]])
    return np.clip(allocation @ wanted, -40, 40)


rov = vehicle(np.zeros(8))
state, laps = rov.state(R=(0, 0, 0.5)), []
with part("100 samples", 100):
    for k in range(100):
        begin = time.perf_counter()
        rov = vehicle(controller(state, rov.velocity(state.g, state.mu)))
        state = nd.simulate(rov, state, t0=k * dt, t1=(k + 1) * dt, dt=dt / 2).final
        laps.append(time.perf_counter() - begin)
print(f"a sample by the clock, median of the last 50\t{np.median(laps[50:]):.6f}\t{np.median(laps[50:]) * 1e6:.1f}")
