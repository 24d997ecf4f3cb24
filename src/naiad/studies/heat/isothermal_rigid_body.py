"""The rigid body at constant temperature."""

import math
from typing import Any

import numpy as np

import naiad as nd
from naiad.diagnostics import Equilibrium, equilibrium
from naiad.diagnostics.equilibrium import check_length
from naiad.studies.heat.methods import CHOICES, LongRun, normal_density
from naiad.studies.parameters import Friction, Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

AXES = ("equipartition_1", "equipartition_2", "equipartition_3")


class IsothermalRigidBody(Study, LongRun, name="isothermal-rigid-body"):
    """Rigid body in a heat bath: Gibbs' distribution on SO(3).

    Friction and noise act on the angular velocity, and a field of strength kappa turns the third axis of the body up.
    Each of the three averages of Omega_i Pi_i comes to kT, and the average of u = e3.R e3 to coth(kappa/kT) - kT/kappa,
    up to their standard errors and a bias proportional to dt (to dt^2 with method=midpoint); the attitude never
    leaves the group.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, section 7.5, on SO(3)"

    method: str = parameter("euler", choices=CHOICES, help="integrator")
    J: Inertia = parameter((1.0, 2.0, 3.0), unit="kg m^2", size=3, help="inertia: three principal moments or a matrix")
    unphysical: bool = parameter(False, help="take moments of inertia that no body has")
    C: Friction = parameter((0.5, 1.0, 1.5), unit="kg m^2/s", size=3, help="friction: three numbers or a matrix")
    kT: float = parameter(1.0, unit="J", above=0.0, help="temperature of the bath")
    kappa: float = parameter(2.0, unit="J", help="energy of the field, - kappa e3.R e3")
    Omega0: Vector = parameter((0.0, 0.0, 0.0), unit="rad/s", size=3, help="initial angular velocity in the body")

    def validate(self) -> None:
        check_length(self.t1, self.dt)

    def run(self, progress: Progress) -> Findings:
        body = nd.models.IsothermalRigidBody(
            as_matrix(self.J), as_matrix(self.C), self.kT, self.kappa, unphysical=self.unphysical
        )

        def balance(i: int):
            return lambda state, t: body.velocity(state.g, state.mu, t)[i] * state.mu[i] / body.temperature

        found = equilibrium(
            body,
            body.state(Omega=self.Omega0),
            {
                **{name: balance(i) for i, name in enumerate(AXES)},
                "alignment": lambda state, t: state.g[2, 2],
                "orthogonality": lambda state, t: body.group.error(state.g),
            },
            **self.options(self.method),
            progress=progress,
        )
        results: dict[str, Any] = {
            "equipartition": [found.mean(name) for name in AXES],
            "equipartition_standard_error": [found.standard_error(name) for name in AXES],
            "alignment": found.mean("alignment"),
            "alignment_standard_error": found.standard_error("alignment"),
            "alignment_exact": mean_alignment(self.kappa / self.kT),
            "orthogonality_error_max": found.largest["orthogonality"],
            "steps": found.steps,
        }
        return Findings(results, found.dataset, figures(found, body), notes=_NOTES)


def mean_alignment(ratio: float) -> float:
    """The mean of u with the density exp(ratio u) on [-1, 1]: Langevin's function coth(ratio) - 1/ratio."""
    if abs(ratio) < 1e-2:
        return ratio / 3.0 - ratio**3 / 45.0 + 2.0 * ratio**5 / 945.0
    return 1.0 / math.tanh(ratio) - 1.0 / ratio


def alignment_density(ratio: float):
    """exp(ratio u) on [-1, 1], with the integral 1."""
    size = abs(ratio)
    whole = 2.0 if size < 1e-12 else -math.expm1(-2.0 * size) / size  # of exp(ratio u - size)
    return lambda u: np.exp(ratio * u - size) / whole


def figures(found: Equilibrium, body: nd.models.IsothermalRigidBody) -> dict:
    """The distributions of the velocity and of the attitude beside Gibbs', and the averages as they settle."""
    from naiad import viz

    def gibbs():
        Omega = np.concatenate([piece.xi.to_numpy()[1:] for piece in found.pieces])
        variances = float(body.temperature) * np.diagonal(np.linalg.inv(body.J))
        quantities = {
            f"angular velocity Ω{'₁₂₃'[i]} [rad/s]": viz.Distribution(Omega[:, i], normal_density(variances[i]))
            for i in range(3)
        }
        u = found.samples(lambda state, t: state.g[2, 2])
        quantities["alignment u"] = viz.Distribution(u, alignment_density(float(body.kappa / body.temperature)))
        return viz.distributions(quantities)

    def averages():
        batches = {f"⟨Ω{'₁₂₃'[i]} Π{'₁₂₃'[i]}⟩/kT": found.batch_means[name] for i, name in enumerate(AXES)}
        return viz.averages(found.ends, batches, "average so far", expected=1.0, title="Equipartition")

    return {"gibbs": gibbs, "averages": averages}


_NOTES = (
    "`equipartition` are the averages of Omega_i Pi_i/kT over every step after the warm-up, `alignment` that of "
    "e3.R e3, beside its value in Gibbs' distribution, `alignment_exact`; the standard errors come from the scatter of "
    "50 batches, and hold if a batch is much longer than the memory of the motion."
)
