"""Optimal control of the Kirchhoff vehicle beside CasADi with Ipopt and with fatrop, on the same discretisation.

python -m benchmarks.control [N ...]     # CasADi is measured where it is installed (the extra `bench`)

Rest to rest to a quarter turn at (4, 2, 1) in 5 s, least effort, all torques and forces: the variational step with the
Cayley map, a control constant over each step, the same equations for all. Seconds are those of a solution from the same
guess, the best of some, CPU time of one process; building and compiling, a first solution among them, are apart. Then a
sample of model predictive control: one iteration from the last plan, over a horizon of 30 steps.
"""

import sys
import time
from typing import Any

import numpy as np

import naiad as nd
from benchmarks.compare import one_core, table

INERTIA, MASS, T, PLACE = (0.5, 1.5, 1.2), (1.0, 2.0, 1.6), 5.0, (4.0, 2.0, 1.0)
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
ROUNDS = 8
PEERS = 3  # rounds of programs that take longer
HORIZON, SAMPLES = 30, 40


def naiad(N: int, bound: float | None) -> tuple[float, float, int, float]:
    """CPU seconds of a solution, of the first one beyond that, iterations, and the cost."""
    body = nd.models.KirchhoffBody(INERTIA, MASS)
    start = body.state()

    def solved(k: int) -> Any:
        goal = body.state(R=QUARTER, x=np.add(PLACE, 1e-9 * k))  # another each time: nothing of the last is known
        started = time.process_time()
        found = nd.control.solve(body, start, goal, T, N, order=2, bounds=bound)
        return found, time.process_time() - started

    whole, first = solved(0)
    best = np.inf
    for k in range(ROUNDS):
        found, seconds = solved(k + 1)
        best = min(best, seconds)
        assert found.solved, found.message
    return best, first - best, whole.iterations, whole.cost


def sampled(bound: float | None) -> tuple[float, float]:
    """CPU seconds of a sample of MPC, the median of a closed loop without the first few, and the cost of its plan."""
    body = nd.models.KirchhoffBody(INERTIA, MASS)
    control = nd.control.MPC(body, body.state(R=QUARTER, x=PLACE), T, HORIZON, bounds=bound)
    state, dt, seconds, cost = body.state(), T / HORIZON, [], 0.0
    for _ in range(SAMPLES):
        started = time.process_time()
        u, cost, _ = control.planned(state)
        seconds.append(time.process_time() - started)
        state = nd.simulate(nd.control.Actuated(body, u), state, t1=dt, dt=dt / 4, progress=False).final
    return float(np.median(seconds[SAMPLES // 4 :])), cost


def casadi(N: int, bound: float | None, solver: str) -> tuple[float, float, int, float]:
    """The same by CasADi: multiple shooting with R, x and the momenta at the nodes and xi, u of the steps."""
    import casadi as ca

    started = time.process_time()
    h, K = T / N, ca.DM(np.diag([*INERTIA, *MASS]))

    def cross(a: Any, b: Any) -> Any:
        return ca.cross(a, b)

    def cayley(v: Any) -> Any:
        c = 0.5 * v[:3]
        s = 1.0 + ca.dot(c, c)
        R = ca.SX.eye(3) + 2.0 * (ca.skew(c) + ca.skew(c) @ ca.skew(c)) / s
        x = (v[3:] + cross(c, v[3:]) + c * ca.dot(c, v[3:])) / s
        return R, x

    def dtau_inv_dual(v: Any, mu: Any) -> Any:
        y = ca.SX.sym("y", 6)
        moment = y[3:] - 0.5 * cross(v[3:], y[:3])
        angular = y[:3] - 0.5 * cross(v[:3], y[:3]) + 0.25 * v[:3] * ca.dot(v[:3], y[:3])
        image = ca.vertcat(angular, moment - 0.5 * cross(v[:3], moment))
        return ca.substitute(ca.gradient(ca.dot(mu, image), y), y, ca.DM.zeros(6))

    R0, x0, m0 = ca.SX.sym("R", 9), ca.SX.sym("x", 3), ca.SX.sym("m", 6)
    xi, u = ca.SX.sym("xi", 6), ca.SX.sym("u", 6)
    leg = dtau_inv_dual(h * xi, K @ xi)
    F, f = cayley(h * xi)
    R = ca.reshape(R0, 3, 3)
    angular, linear = F.T @ (leg[:3] - cross(f, leg[3:])), F.T @ leg[3:]
    step = ca.Function(
        "step",
        [R0, x0, m0, xi, u],
        [
            ca.reshape(R @ F, 9, 1),
            x0 + R @ f,
            ca.vertcat(angular, linear) + 0.5 * h * u,
            leg - 0.5 * h * u - m0,
        ],
    )
    opti = ca.Opti()
    states, free = [], []
    for k in range(N + 1):
        states.append((opti.variable(9), opti.variable(3), opti.variable(6)))
        if k < N:
            free.append((opti.variable(6), opti.variable(6)))
    cost = 0
    guess = nd.models.KirchhoffBody(INERTIA, MASS)
    start, goal = guess.state(), guess.state(R=QUARTER, x=PLACE)
    cold = nd.control.solve(guess, start, goal, T, N, order=2, iterations=1).states
    for k in range(N):
        ahead = step(*states[k], *free[k])
        for value, new in zip(ahead[:3], states[k + 1], strict=True):
            opti.subject_to(new == value)
        if k == 0:
            _fixed(opti, states[0], start)
        opti.subject_to(ahead[3] == 0)
        if bound is not None:
            opti.subject_to(opti.bounded(-bound, free[k][1], bound))
        cost = cost + 0.5 * h * ca.sumsqr(free[k][1])
        opti.set_initial(states[k][0], np.asarray(cold.g.R[k]).T.reshape(-1))
        opti.set_initial(states[k][1], cold.g.x[k])
    _reached(opti, states[N], goal)
    opti.minimize(cost)
    opti.set_initial(states[N][0], QUARTER.T.reshape(-1))
    opti.set_initial(states[N][1], PLACE)
    quiet: dict[str, Any] = {"print_time": False, "expand": True}
    if solver == "fatrop":
        opti.solver("fatrop", {**quiet, "structure_detection": "auto"}, {"tol": 1e-8, "print_level": 0})
    else:
        opti.solver("ipopt", quiet, {"print_level": 0, "sb": "yes", "tol": 1e-8})
    opti.solve()  # which builds the functions
    built, best = time.process_time() - started, np.inf
    for _ in range(PEERS):
        started = time.process_time()
        found = opti.solve()
        best = min(best, time.process_time() - started)
    return best, built, int(found.stats()["iter_count"]), float(found.value(cost))


def _fixed(opti: Any, nodes: Any, state: Any) -> None:
    """The first node, which is given."""
    for value, given in zip(nodes, (np.asarray(state.g.R).T.reshape(-1), state.g.x, state.mu), strict=True):
        opti.subject_to(value == given)


def _reached(opti: Any, nodes: Any, state: Any) -> None:
    """The last node: of R, which is a rotation by its steps, three conditions, so that none is said twice."""
    import casadi as ca

    R, x, m = nodes
    turned = ca.DM(np.asarray(state.g.R).T) @ ca.reshape(R, 3, 3)
    opti.subject_to(ca.inv_skew(turned - turned.T) == 0)
    opti.subject_to(x == ca.DM(state.g.x))
    opti.subject_to(m == ca.DM(state.mu))


def main(counts: list[int]) -> None:
    rows = []
    with one_core():
        for N in counts:
            for bound in (None, 0.7):
                for name, run in (("naiad", naiad), ("fatrop", _by("fatrop")), ("ipopt", _by("ipopt"))):
                    try:
                        seconds, before, iterations, cost = run(N, bound)
                    except ImportError:
                        continue
                    except Exception as error:
                        rows.append((N, bound or "none", name, "failed", str(error).splitlines()[0][:60], "", ""))
                        continue
                    rows.append((N, bound or "none", name, 1e3 * seconds, before, iterations, f"{cost:.10f}"))
        for bound in (None, 0.7):
            seconds, cost = sampled(bound)
            rows.append((HORIZON, bound or "none", "naiad, a sample of MPC", 1e3 * seconds, "", 1, f"{cost:.10f}"))
    print(table(("N", "bound", "", "ms of CPU", "s to build or compile", "iterations", "cost"), rows))


def _by(solver: str) -> Any:
    return lambda N, bound: casadi(N, bound, solver)


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [50, 200, 1000])
