"""The words of docs/audit.md."""

from typing import Any

from benchmarks.compare import table

INTRODUCTION = """# Audit of the methods

What each method is found to be, whatever its paper or its docstring says. `make audit` measures it all and writes this page; the
methods are those of the studies, by the names of the [command line](command-line.md).

- *Order of g, μ*: the slope of the error at t = 2 s against DOP853, over the step, for configuration and momentum.
- *Energy*, *Casimirs*, *momentum* (in space), *off the group*: the largest change over every one of 10,000 steps, relative, from the
  momentum at the node. What is at round-off is in bold. Round-off grows with the number of steps, and on SE(3) with the distance.
- *Symplectic*, *Poisson*: the defects of one step's derivative, in T*G and on the reduced space. *Reversal*: the distance from the
  start after a step by h and one by -h. For the two-step `flv` one step is one from a fresh start.
- *ns a step*: the CPU time of a step in compiled code, attitude included, at h = 0.01 s, the best of three rounds. On a busy machine
  it is good to a few tens of per cent."""

SETTINGS = {
    "The free rigid body": "J = (1, 2, 3) kg m², Π = (0.7, 0.8, -1.5) kg m²/s; h = 0.1 s for what is kept and for the defects.",
    "The underwater vehicle": (
        "Kirchhoff's equations, I = (1.4726, 7.0306, 4.7969) kg m², M = (4.7190, 5.8566, 10.5476) kg, Π = (0, 3.807, 1) kg m²/s, "
        "p = (5.2, 0, 0) kg m/s; h = 0.05 s. The Casimirs are Π·p and |p|²."
    ),
}


def contradictions(
    findings: dict[str, dict[str, Any]], starts: dict[str, Any], kept: dict[str, dict[str, float]]
) -> str:
    """Where the thesis [bourabee2007] says otherwise."""
    free = findings["The free rigid body"]
    points = [_start(starts)]
    if "kr" in free:
        points.append(_krysl(free["kr"]))
    if "tln" in free:
        points.append(_newmark(kept))
    if "sw" in free:
        points.append(_simo_wong(findings))
    return "\n\n".join(["## Where this contradicts the thesis", "The thesis is [bourabee2007].", *points])


def _start(starts: dict[str, Any]) -> str:
    rows = [[f"`{name}`", *(f"{order:.2f}" for order in start)] for name, start in starts.items()]
    header = ["", "g, ξ₀ = ξ(0)", "μ, ξ₀ = ξ(0)", "g, from the momentum", "μ, from the momentum"]
    return (
        "**Theorem 4.7.1** says that the variational methods are of second order when they start from ξ₀ = ξ(0). The momentum "
        "ℓ'(ξ_k) then is; the configuration is only of first order, because ξ₀ is the velocity of the whole first step, half a step "
        "later than t = 0. naiad starts from the momentum at the node, P₀ = μ(0), which makes both of second order, and P is what "
        f"is symplectic and conserved. The measured orders on the free rigid body:\n\n{table(header, rows)}"
    )


def _krysl(found: Any) -> str:
    return (
        "**KR is of first order.** The thesis lists it among the methods of second order; the orders measured here are "
        f"{found.order_g:.2f} for the attitude and {found.order_mu:.2f} for the momentum. In section 6.5 the second term of its f "
        "needs a plus."
    )


def _newmark(kept: dict[str, dict[str, float]]) -> str:
    header = ["free rigid body, h = 0.1 s", *next(iter(kept.values()))]
    rows = [[f"`{name}`", *(f"{value:.0e}" for value in levels.values())] for name, levels in kept.items()]
    return (
        "**TLN, MLN and FLV are not symplectic**, though the thesis finds in its sections that they have “the same "
        "structure-preserving properties” as the variational CAY; the tables above have their defects. Table 5.1 lacks the "
        "factors Ω in TLN's line. MLN keeps |Π| and H, TLN keeps them at m = Π - (h/2) Π × Ω, and FLV keeps "
        "|Π_k + Π_{k+1}| and Π_k · J⁻¹ Π_{k+1}. The largest relative changes over 2000 steps:\n\n"
        f"{table(header, rows)}\n\n"
        "TLN's attitude carries the index of the node in the thesis; read as that half a step before, it is of second order."
    )


def _simo_wong(findings: dict[str, dict[str, Any]]) -> str:
    vehicle = findings["The underwater vehicle"].get("sw")
    ends = f" Here it {vehicle.stopped}." if vehicle is not None and vehicle.stopped else ""
    return (
        "**SW** is of second order with the text's w and x = dexp w, or with the table's w (times h) and x = w; mixed, as a reader "
        "of both would have it, it is of first order. On the vehicle it gains energy until it fails: at coarse steps that is the "
        f"poor performance of Figure 6.6.3.{ends}"
    )
