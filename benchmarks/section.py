"""The section p_z = 0 of the Kirchhoff equations: naiad, its splittings in C, heyoka's Taylor method, DOP853, RK4.

Time for T = 1e4 with every rising crossing located and kept, at a wanted error of the energy.

python -m benchmarks.section
"""

import ctypes
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import naiad as nd
from benchmarks.compare import table
from benchmarks.peers import splitting
from benchmarks.peers.build import build, compiler
from naiad.compiler.backends.llvm.machine import processor
from naiad.numerics.splittings import BLANES_MOAN_RKN_4

INERTIA, MASS = np.array([1.5, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])
BODY = nd.models.KirchhoffBody(INERTIA, MASS)
START = np.array([2.0, -0.4, -0.9, 4.4, -0.2, -1.1])
T = 1e4
ORBITS = 64
RUNGE_KUTTA = {3e-6: 0.0175, 3e-8: 0.007, 3e-10: 0.0028}
TOLERANCES = {3e-6: 1e-6, 3e-8: 1e-8, 3e-10: 1e-9}
NYSTROM = nd.Splitting(4, "kicked-top", BLANES_MOAN_RKN_4, axes=(1, 0, 2))
EIGHTH = nd.Splitting(8, "top", axes=(2, 0, 1))
RETURNS = {2e-10: (EIGHTH, 0.165), 1e-11: (EIGHTH, 0.12)}
STAGES = {3e-6: (6, 0.55, 1e-7), 3e-8: (8, 0.8, 7e-10), 3e-10: (8, 0.7, 5e-12), 1e-11: (8, 0.625, 5e-12)}
"""How many, the step, and the tolerance of what is found by iteration."""
SPLITTINGS = {3e-6: (NYSTROM, 0.3), 3e-8: (nd.Splitting(6, "top"), 0.25), 3e-10: (nd.Splitting(6, "top"), 0.13)}


class Work(NamedTuple):
    """Orbits from their first states: a call gives the states (Pi, p) at the crossings of each."""

    call: Callable[[], list[np.ndarray]]
    first: np.ndarray
    times: int = 1  # as long as this would be what is wanted

    @property
    def orbits(self) -> int:
        """How many there are."""
        return len(self.first)


class Measured(NamedTuple):
    """CPU milliseconds an orbit, the largest relative error of the energy at the crossings, the median error of the
    next crossing after a crossing, and how many there are."""

    milliseconds: float
    energy: float
    one_return: float
    crossings: float


def p_z(state, t):
    """The function of the section."""
    return state.mu[5]


def energy(mu: np.ndarray) -> np.ndarray:
    """H of rows (Pi, p)."""
    return 0.5 * (mu**2 @ np.concatenate([1 / INERTIA, 1 / MASS]))


def starts(count: int) -> np.ndarray:
    """States near the start."""
    return START * (1 + 1e-3 * np.random.default_rng(0).standard_normal((count, 6)))


def measured(works: dict[str, Work], rounds: int = 9) -> dict[str, Measured]:
    """The least CPU times of some rounds, in each of which all take their turn after the other."""
    found = {name: work.call() for name, work in works.items()}
    seconds = dict.fromkeys(works, np.inf)
    for _ in range(rounds):
        for name, work in works.items():
            before = time.process_time()
            work.call()
            seconds[name] = min(seconds[name], time.process_time() - before)
    return {name: _judged(work, found[name], seconds[name]) for name, work in works.items()}


def _judged(work: Work, found: list[np.ndarray], seconds: float) -> Measured:
    ends = zip(found, work.first, strict=True)
    errors = [np.max(np.abs(energy(mu) / energy(one) - 1)) for mu, one in ends if len(mu)]
    milliseconds, crossings = 1e3 * seconds / work.orbits, sum(map(len, found)) / work.orbits
    return Measured(work.times * milliseconds, max(errors), one_return(found[0]), work.times * crossings)


def one_return(crossings: np.ndarray, count: int = 200) -> float:
    """The median distance between the next crossing and that of a much finer run from the crossing before it; a
    neighbouring return that one of the two misses is an outlier, which the median leaves out."""
    before, after = crossings[:-1][:count], crossings[1:][:count]
    exact = nd.simulate_many(
        BODY, [BODY.state(mu=mu) for mu in before], t1=200.0, dt=0.01, method=nd.Splitting(8, "top"), save_every=10**9,
        sections={"p_z": nd.Section(p_z, pairs=True)}, reconstruct=False, progress=False,
    )  # fmt: skip
    found = [np.hstack([run.crossings["p_z"]["Pi"], run.crossings["p_z"]["p"]]) for run in exact]
    later = [mu[np.linalg.norm(mu - start, axis=1) > 1e-6] for mu, start in zip(found, before, strict=True)]
    distances = [np.linalg.norm(mu[0] - end) for mu, end in zip(later, after, strict=True) if len(mu)]
    return float(np.median(distances))


def collocation(wanted: float) -> tuple[nd.Collocation, float]:
    """Stages side by side: the method, and its step."""
    stages, dt, tolerance = STAGES[wanted]
    return nd.Collocation(stages, newton=nd.Newton(tolerance=tolerance, max_iterations=100)), dt


def ours(method: nd.Splitting | nd.Collocation, dt: float, orbits: int) -> Work:
    """`simulate`, or `simulate_many`, of the momentum alone."""
    first = starts(orbits) if orbits > 1 else START[None]
    states = [BODY.state(mu=mu) for mu in first]
    method = method.fitted(BODY, states[0], dt) if isinstance(method, nd.Splitting) else method
    options: dict[str, Any] = {
        "t1": T, "dt": dt, "method": method, "save_every": 10**9, "progress": False, "reconstruct": False,
        "sections": {"p_z": nd.Section(p_z, pairs=True)},
    }  # fmt: skip

    def call() -> list[np.ndarray]:
        runs = nd.simulate_many(BODY, states, **options) if orbits > 1 else nd.simulate(BODY, states[0], **options)
        met = runs.crossings["p_z"]
        mu = np.hstack([met["Pi"].to_numpy(), met["p"].to_numpy()])
        return np.split(mu, np.searchsorted(met["run"].to_numpy(), range(1, orbits))) if orbits > 1 else [mu]

    return Work(call, first)


def taylor(wanted: float, batch: int) -> Work:
    """heyoka's adaptive Taylor method with an event, one orbit or a batch of them."""
    import heyoka as hy

    names = hy.make_vars("P1", "P2", "P3", "p1", "p2", "p3")
    Pi, p = names[:3], names[3:]
    Omega, v = [x / i for x, i in zip(Pi, INERTIA, strict=True)], [x / m for x, m in zip(p, MASS, strict=True)]
    torque = [a + b for a, b in zip(_cross(Pi, Omega), _cross(p, v), strict=True)]
    system = list(zip(names, (*torque, *_cross(p, Omega)), strict=True))
    found: list[list[np.ndarray]] = [[] for _ in range(batch)]
    rising = hy.event_direction.positive
    if batch == 1:

        def event(integrator, t, _sign):
            integrator.update_d_output(t)
            found[0].append(integrator.d_output.copy())

        one = hy.taylor_adaptive(system, START.copy(), tol=TOLERANCES[wanted],
                                 nt_events=[hy.nt_event(p[2], event, direction=rising)])  # fmt: skip
        return Work(lambda: _propagated(one, START, found), START[None])

    def event_of(integrator, t, _sign, lane):
        integrator.update_d_output(np.full(batch, t))
        found[lane].append(integrator.d_output[:, lane].copy())

    first = starts(batch)
    many = hy.taylor_adaptive_batch(system, first.T.copy(), tol=TOLERANCES[wanted],
                                    nt_events=[hy.nt_event_batch(p[2], event_of, direction=rising)])  # fmt: skip
    return Work(lambda: _propagated(many, first.T, found), first)


def _propagated(integrator: Any, start: np.ndarray, found: list[list[np.ndarray]]) -> list[np.ndarray]:
    for each in found:
        each.clear()
    integrator.set_time(0.0) if hasattr(integrator, "set_time") else setattr(integrator, "time", 0.0)
    integrator.state[...] = start
    integrator.propagate_until(T)
    return [np.array(each) for each in found]


def _cross(a: Any, b: Any) -> tuple[Any, Any, Any]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def field(_t: float, mu: np.ndarray) -> np.ndarray:
    """The Kirchhoff equations."""
    Pi, p = mu[:3], mu[3:]
    Omega, v = Pi / INERTIA, p / MASS
    return np.concatenate([np.cross(Pi, Omega) + np.cross(p, v), np.cross(p, Omega)])


def dop853(wanted: float) -> Work:
    """SciPy's method with an event, over a hundredth of the time."""
    from scipy.integrate import solve_ivp

    def crossing(_t, mu):
        return mu[5]

    crossing.direction = 1.0

    def call() -> list[np.ndarray]:
        solution = solve_ivp(field, (0.0, T / 100), START, method="DOP853", rtol=TOLERANCES[wanted] / 30, atol=1e-12,
                             events=crossing)  # fmt: skip
        return [np.array(solution.y_events[0]).reshape(-1, 6)]

    return Work(call, START[None], times=100)


def runge_kutta(wanted: float) -> Work:
    """RK4 in C, the crossing by one step of the field in p_z."""
    run = build("section_rk4.c").run
    run.argtypes = (ctypes.c_void_p,) * 3 + (ctypes.c_double, ctypes.c_long, ctypes.c_void_p, ctypes.c_long)
    run.restype = ctypes.c_long
    dt = RUNGE_KUTTA[wanted]
    room = np.empty((10_000, 6))

    def call() -> list[np.ndarray]:
        mu = START.copy()
        count = run(mu.ctypes.data, INERTIA.ctypes.data, MASS.ctypes.data, dt, round(T / dt), room.ctypes.data, 10_000)
        return [room[:count].copy()]

    return Work(call, START[None])


def in_c(method: nd.Splitting, dt: float, lanes: int) -> Work:
    """The same splitting in C by hand, one orbit or so many side by side; the crossings from Taylor polynomials."""
    code = splitting.step(method.fitted(BODY, BODY.state(mu=START), dt), INERTIA, MASS, dt)
    run = build("section_splitting.c", STEP=code, LANES=lanes, H=dt).run
    run.argtypes = (ctypes.c_void_p,) * 3 + (ctypes.c_long, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p)
    run.restype = None
    first = starts(lanes) if lanes > 1 else START[None]
    room = np.empty((lanes, 4_000, 6))

    def call() -> list[np.ndarray]:
        mu, count = np.ascontiguousarray(first.T), np.zeros(lanes, np.int64)
        run(mu.ctypes.data, INERTIA.ctypes.data, MASS.ctypes.data, round(T / dt), room.ctypes.data, 4_000,
            count.ctypes.data)  # fmt: skip
        return [rows[:each].copy() for rows, each in zip(room, count, strict=True)]

    return Work(call, first)


def report() -> str:
    """The table; peers that are not installed are left out."""
    makers: dict[str, Callable[[float], Work]] = {
        "naiad, one orbit": lambda wanted: ours(*SPLITTINGS[wanted], 1),
        "naiad, one orbit, collocation": lambda wanted: ours(*collocation(wanted), 1),
        f"naiad, {ORBITS} orbits": lambda wanted: ours(*SPLITTINGS[wanted], ORBITS),
        "DOP853 (SciPy)": dop853,
    }
    if compiler() is not None:
        lanes = 2 * processor().width
        makers["the same splitting in C, one orbit"] = lambda wanted: in_c(*SPLITTINGS[wanted], 1)
        makers[f"the same splitting in C, {lanes} lanes"] = lambda wanted: in_c(*SPLITTINGS[wanted], lanes)
        makers["RK4 in C, one orbit"] = runge_kutta
    try:
        import heyoka  # noqa: F401
    except ImportError:
        pass
    else:
        makers["heyoka, one orbit"] = lambda wanted: taylor(wanted, 1)
        makers["heyoka, batch of 8"] = lambda wanted: taylor(wanted, 8)
    rows = []
    for wanted in SPLITTINGS:
        rows += _rows(f"{wanted:.0e}", {name: make(wanted) for name, make in makers.items()})
    for wanted, splitting_and_step in RETURNS.items():
        works = {"naiad, one orbit": ours(*splitting_and_step, 1)}
        if wanted in STAGES:
            works["naiad, one orbit, collocation"] = ours(*collocation(wanted), 1)
        if "heyoka, one orbit" in makers:
            works["heyoka, one orbit"] = makers["heyoka, one orbit"](3e-10)
        rows += _rows(f"{wanted:.0e} (return)", works)
    return table(["", "error wanted", "ms an orbit", "error at the crossings", "of one return", "crossings"], rows)


def _rows(wanted: str, works: dict[str, Work]) -> list[list[Any]]:
    return [
        [name, wanted, each.milliseconds, f"{each.energy:.1e}", f"{each.one_return:.1e}", each.crossings]
        for name, each in measured(works).items()
    ]


if __name__ == "__main__":
    print(report())
