"""The methods of the verification: a new one enters this table and inherits every measurement."""

import naiad as nd
from naiad.groups import S3, SO3, Rn
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem

CAYLEY, EXPONENTIAL = nd.Cayley(), nd.Exponential()

METHODS: dict[str, AbstractMethod] = {
    "cay": nd.Variational(CAYLEY),
    "exp": nd.Variational(EXPONENTIAL),
    "new": nd.Variational(nd.Newmark()),
    "skew": nd.Variational(nd.Skew()),
    "cay-left": nd.Variational(CAYLEY, nd.Left()),
    "exp-right": nd.Variational(EXPONENTIAL, nd.Right()),
    "cay-midpoint": nd.Variational(CAYLEY, nd.Midpoint()),
    "exp-midpoint": nd.Variational(EXPONENTIAL, nd.Midpoint()),
    "skew-midpoint": nd.Variational(nd.Skew(), nd.Midpoint()),
    "new-midpoint": nd.Variational(nd.Newmark(), nd.Midpoint()),
    "cay-left-adjoint": nd.Adjoint(nd.Variational(CAYLEY, nd.Left())),
    "cay-left-symmetrised": nd.Symmetrised(nd.Variational(CAYLEY, nd.Left())),
    "compose4": nd.Composition(nd.Variational(CAYLEY), 4),
    "compose4-midpoint": nd.Composition(nd.Variational(CAYLEY, nd.Midpoint()), 4),
    "compose6": nd.Composition(nd.Variational(CAYLEY), 6),
    "compose8": nd.Composition(nd.Variational(EXPONENTIAL), 8),
    "reduced-midpoint": nd.Reduced(EXPONENTIAL, nd.Midpoint()),
    "gauss2": nd.VPRK("gauss2", EXPONENTIAL),
    "gauss3": nd.VPRK("gauss3", CAYLEY),
    "lobatto3": nd.VPRK("lobatto3", CAYLEY),
    "collocation1": nd.Collocation(1),
    "collocation2": nd.Collocation(2, CAYLEY),
    "tree": nd.TreeVariational(),
    "tree-midpoint": nd.TreeVariational(nd.Midpoint()),
    "tree-one-sided": nd.TreeVariational(nd.Left(), correction=True),
    "string": nd.StringVariational(),
    "string-imex": nd.StringVariational(nd.Implicit()),
    "string-paper": nd.StringVariational(nd.Left()),
    "string-imex-compose6": nd.Composition(nd.StringVariational(nd.Implicit()), 6),
    "moser-veselov": nd.MoserVeselov(),
    "mln": nd.MidpointLieNewmark(),
    "tln": nd.TrapezoidalLieNewmark(),
    "flv": nd.FastLieVerlet(),
    "sw": nd.SimoWong(),
    "sw-perp": nd.SimoWongPerp(),
    "kr": nd.Krysl(),
    "compose4-mln": nd.Composition(nd.MidpointLieNewmark(), 4),
    "split2": nd.Splitting(2),
    "split4": nd.Splitting(4),
    "split6": nd.Splitting(6),
    "split8": nd.Splitting(8),
    "nystrom2": nd.Nystrom(2),
    "nystrom4": nd.Nystrom(4),
    "nystrom6": nd.Nystrom(6),
    "nystrom8": nd.Nystrom(8),
    "wisdom-holman2": nd.WisdomHolman((2, 2)),
    "wisdom-holman8": nd.WisdomHolman((8, 2)),
    "wisdom-holman10": nd.WisdomHolman((10, 6, 4)),
    "stochastic": nd.StochasticVariational(CAYLEY),
    "rkmk1": nd.RKMK("euler"),
    "rkmk2": nd.RKMK("heun2"),
    "rkmk3": nd.RKMK("kutta3", CAYLEY),
    "rkmk4": nd.RKMK("rk4"),
    "rkmk2-adjoint": nd.Adjoint(nd.RKMK("heun2")),
    "rk4": nd.RK4(),
    "implicit-euler": nd.ImplicitEuler(),
    "projected": nd.Projected(nd.RKMK("heun2")),
    "projected-momentum": nd.Projected(nd.RKMK("heun2"), ("energy", "momentum")),
}

# Which problems a method takes, where it does not take all: written down, so that a method that begins to refuse one,
# or to take it, is noticed.

FREE = {"free-body", "free-body-s3", "free-body-so5", "vehicle"}
STRINGS = {"string", "string-reel", "string-inextensible"}
CONSTRAINED = {"ball-on-a-sphere", "string-inextensible"}
ROTATIONS = {"free-body", "heavy-top", "double-pendulum", "buoyant-vehicle", "tree", "rotor-chain"} | STRINGS
TREES = {"tree"}
VECTORS = {"henon-heiles", "ball-on-a-sphere", "planets"}
SEPARABLE = {"henon-heiles", "planets"}
PLANETS = {"planets"}
ONLY: dict[str, set[str]] = {
    **dict.fromkeys(("new", "new-midpoint"), ROTATIONS | VECTORS),
    **dict.fromkeys(("skew", "skew-midpoint"), ROTATIONS | VECTORS | {"free-body-so5"}),
    "reduced-midpoint": {"buoyant-vehicle"},
    **dict.fromkeys(("tree", "tree-midpoint", "tree-one-sided"), TREES),
    **dict.fromkeys(("string", "string-imex", "string-paper", "string-imex-compose6"), STRINGS),
    "moser-veselov": {"free-body", "free-body-s3"},
    **dict.fromkeys(("mln", "tln", "flv", "sw", "sw-perp", "kr", "compose4-mln"), FREE),
    **dict.fromkeys(("split2", "split4", "split6", "split8"), FREE),
    **dict.fromkeys(("nystrom2", "nystrom4", "nystrom6", "nystrom8"), SEPARABLE),
    **dict.fromkeys(("wisdom-holman2", "wisdom-holman8", "wisdom-holman10"), PLANETS),
    "projected-momentum": FREE | {"buoyant-vehicle", "swimmer", "string", "string-inextensible", "planets"},
}
NOT: dict[str, set[str]] = {
    **dict.fromkeys(("gauss2", "gauss3", "lobatto3", "implicit-euler"), CONSTRAINED),
    "projected": {"string-reel", "driven-pendulum"},
}


def takes(method: str, problem: str) -> bool:
    """Whether the method steps the problem."""
    return problem in ONLY.get(method, {problem}) and problem not in NOT.get(method, ())


# What is not denied here is claimed and measured: that a method keeps the momentum in space, and stays on the group.
# Whether it is symplectic and reversible it says itself.

RUNGE_KUTTA = {name for name in METHODS if name.startswith("rk")}
COLLOCATION = {"collocation1", "collocation2"}
CONTROLS = RUNGE_KUTTA | COLLOCATION | {"implicit-euler", "projected", "projected-momentum"}
LEAVE_THE_GROUP = {"rk4"}


def keeps_momentum(name: str, system: LagrangianSystem) -> bool:
    """Whether the momentum in space, at the nodes, is kept to round-off.

    The Cayley map of SO(3) turns the momentum as the midpoint rule does, those of other groups do not; TLN and FLV
    keep a momentum at half steps. Gauss's collocation keeps what is quadratic: on R^n.
    """
    if name in {"mln", "compose4-mln"}:
        return isinstance(system.group, SO3)
    if name in COLLOCATION:
        return isinstance(system.group, Rn)
    return name == "projected-momentum" or name not in CONTROLS | {"tln", "flv"}


def keeps_energy(name: str, system: LagrangianSystem) -> bool:
    """Whether the energy of a free body, at the nodes, is kept to round-off."""
    on_rotations = isinstance(system.group, SO3 | S3)
    kept = {"mln", "sw-perp", "kr", "compose4-mln", "projected", "projected-momentum"} | COLLOCATION
    return name in kept or (name in {"new", "moser-veselov"} and on_rotations)
