"""The string pendulum of Lee, Leok and McClamroch (2010), with the numbers of its three cases, and small ones."""

import numpy as np

import naiad as nd
from naiad.models import HangingBody, Reel, StringPendulum

CENTRE = (0.3, 0.2, 0.4)
INERTIA = np.array([[0.352 / 12, -0.006, -0.012], [-0.006, 0.439 / 12, -0.008], [-0.012, -0.008, 0.02325]])
BODY = HangingBody(0.1, CENTRE, INERTIA)
DIRECTION = {1: (1.0, 0.0, 0.0), 2: (1.0, 0.0, 0.0), 3: (np.sin(np.pi / 12), 0.0, np.cos(np.pi / 12))}


def paper_case(
    case: int, *, elements: int = 20, kinetic="paper", carnot="paper", moment=None
) -> tuple[StringPendulum, nd.State]:
    """Fixed length, deployment or retrieval, and the state it starts from."""
    given = (2.09 if case == 3 else 0.0) if moment is None else moment
    reel = Reel(moment=given, carnot=carnot, locked=case == 1)
    pendulum = StringPendulum(
        length=100.0,
        mass_per_length=0.025,
        stiffness=40.0,
        elements=elements,
        body=BODY,
        reel=reel,
        wound=90.0 if case == 1 else 0.0,
        kinetic=kinetic,
    )
    s = {1: None, 2: 99.0, 3: 90.0}[case]
    return pendulum, pendulum.straight(DIRECTION[case], s=s, tip_velocity=(0.0, 0.5, 0.0))


def moving_case(case: int, *, elements: int = 4, seed: int = 0, **options) -> tuple[StringPendulum, nd.State]:
    """The same with few elements, bent, stretched and moving in all ways."""
    pendulum, state = paper_case(case, elements=elements, **options)
    rng = np.random.default_rng(seed)
    q = np.asarray(state.g.q) * 1.1 + 0.02 * rng.normal(size=(elements, 3))
    more = {} if case == 1 else {"s": state.g.s, "s_v": [0.4]}
    return pendulum, pendulum.state(q=q, q_v=rng.normal(size=(elements, 3)), R_Omega=rng.normal(size=3), **more)
