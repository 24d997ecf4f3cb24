"""The words of docs/audit.md."""

import textwrap
from typing import Any

from benchmarks.compare import table

WIDTH = 132


def paragraph(text: str, *, item: bool = False) -> str:
    """A paragraph, or an item of a list, in lines of the documentation's width."""
    first, later = ("- ", "  ") if item else ("", "")
    words = " ".join(text.split())
    return textwrap.fill(
        words, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )


INTRODUCTION = "\n\n".join(
    [
        "# Audit of the methods",
        paragraph(
            """What each method is found to be, whatever its paper or its docstring says. `make audit` measures it all
            and writes this page; the methods are those of the studies, by the names of the
            [command line](command-line.md)."""
        ),
        "\n".join(
            paragraph(text, item=True)
            for text in (
                """*Order of g, μ*: the slope of the error at t = 2 s against DOP853, over the step, for configuration
                and momentum. The second of the two steps taken with order 16, 1 s, is at round-off for the body.""",
                """*Energy*, *Casimirs*, *momentum* (in space), *off the group*: the largest change over every one of
                10,000 steps, relative, from the momentum at the node. What is below 1e-11, round-off or as good as it,
                is in bold. Round-off grows with the number of steps, and that of the momentum on SE(3) with the
                distance.""",
                """*Symplectic*, *Poisson*: the defects of one step's derivative, in T\\*G and on the reduced space.
                *Reversal*: the distance from the start after a step by h and one by -h. For the two-step `flv` a step
                is one from a fresh start.""",
                """*ns a step*: the CPU time of a step in compiled code, attitude included, at h = 0.01 s, the best of
                three rounds. On a busy machine it is good to some tens of per cent.""",
            )
        ),
    ]
)

SETTINGS = {
    "The free rigid body": paragraph(
        """J = (1, 2, 3) kg m², Π = (0.7, 0.8, -1.5) kg m²/s; h = 0.1 s for what is kept and for the defects."""
    ),
    "The underwater vehicle": paragraph(
        """Kirchhoff's equations, I = (1.4726, 7.0306, 4.7969) kg m², M = (4.7190, 5.8566, 10.5476) kg, Π = (0, 3.807,
        1) kg m²/s, p = (5.2, 0, 0) kg m/s; h = 0.05 s for what is kept and for the defects. The Casimirs are Π·p and
        |p|²."""
    ),
}


def contradictions(
    findings: dict[str, dict[str, Any]], starts: dict[str, Any], kept: dict[str, dict[str, float]]
) -> str:
    """Where the thesis says otherwise."""
    free = findings["The free rigid body"]
    parts = ["## Where this contradicts the thesis", "The thesis is [bourabee2007].", *_start(starts)]
    if "kr" in free:
        parts.append(_krysl(free["kr"]))
    if kept:
        parts += _newmark(kept)
    if "sw" in free:
        parts.append(_simo_wong(findings))
    return "\n\n".join(parts)


def _start(starts: dict[str, Any]) -> list[str]:
    rows = [[f"`{name}`", *(f"{order:.2f}" for order in start)] for name, start in starts.items()]
    header = ["order of", "g, ξ₀ = ξ(0)", "μ, ξ₀ = ξ(0)", "g, from the momentum", "μ, from the momentum"]
    words = paragraph(
        """**Theorem 4.7.1** says that the variational methods are of second order when they start from ξ₀ = ξ(0). The
        momentum ℓ'(ξ_k) then is; the configuration is only of first order, because ξ₀ is the velocity of the whole
        first step, and belongs to its middle. naiad starts from the momentum at the node, P₀ = μ(0), which makes both
        of second order; P is also what is symplectic and conserved. Measured on the free rigid body:"""
    )
    return [words, table(header, rows)]


def _krysl(found: Any) -> str:
    return paragraph(
        f"""**KR is of first order.** The thesis compares it with methods of second order, and has it among the fastest
        in Figure 5.7.1; the orders measured here are {found.order_g:.2f} for the attitude and {found.order_mu:.2f} for
        the momentum. In section 6.5 the second term of its f needs a plus."""
    )


def _newmark(kept: dict[str, dict[str, float]]) -> list[str]:
    header = ["", *next(iter(kept.values()))]
    rows = [[f"`{name}`", *(f"{value:.0e}" for value in levels.values())] for name, levels in kept.items()]
    words = paragraph(
        """**TLN, MLN and FLV are not symplectic**: the tables above have their defects. The thesis concludes from its
        sections that they “possess the same structure-preserving properties” as the variational CAY. What they do keep
        on the free rigid body: MLN |Π| and H; TLN the same at m = Π - (h/2) Π × Ω; FLV |Π_k + Π_{k+1}| and Π_k · J⁻¹
        Π_{k+1}. In table 5.1 the line of TLN lacks the factors Ω, and its attitude, printed with the index of the node,
        belongs to half a step before. The largest relative changes over 2000 steps of 0.1 s:"""
    )
    return [words, table(header, rows)]


def _simo_wong(findings: dict[str, dict[str, Any]]) -> str:
    vehicle = findings["The underwater vehicle"].get("sw")
    ends = f" On the vehicle it {vehicle.stopped}." if vehicle is not None and vehicle.stopped else ""
    return paragraph(
        f"""**SW** is of second order with the text's w and x = dexp w, or with the table's w (times h) and x = w;
        mixed, it is of first order.{ends}"""
    )
