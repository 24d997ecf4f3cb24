"""Two claims of the thesis, measured: its start, and what its momentum methods keep instead of the momentum."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad import diagnostics
from naiad.numerics import double
from naiad.studies.methods import FREE_CHOICES, method

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
STATE = BODY.state(Pi=(0.7, 0.8, -1.5))
INERTIA = np.array([1.0, 2.0, 3.0])
COUNTS = (40, 80, 160)


class Start(NamedTuple):
    """The measured orders of g and of ell'(xi) from the thesis's start, and of g and mu from the momentum."""

    thesis_g: float
    thesis_mu: float
    momentum_g: float
    momentum_mu: float


def start_of_the_thesis() -> dict[str, Start]:
    """For `cay` and `exp`: the start xi_0 = xi(0) of theorem 4.7.1, and that from the node momentum."""
    return {name: _start(tau) for name, tau in (("cay", nd.Cayley()), ("exp", nd.Exponential()))}


@double
def _start(tau) -> Start:
    scheme, exact = nd.Variational(tau), diagnostics.reference(BODY, STATE, t1=2.0)
    mu, xi = jnp.asarray(STATE.mu), jnp.asarray(STATE.mu / INERTIA)
    errors = []
    for count in COUNTS:
        h = 2.0 / count
        shifted = STATE._replace(mu=np.asarray(tau.dtau_inv_dual(BODY.group, h * xi, mu)))
        end, after = (diagnostics.march(BODY, scheme, shifted, dt=h, steps=n) for n in (count, count + 1))
        velocity = np.asarray(tau.inverse(BODY.group, jnp.asarray(end.g.T @ after.g))) / h
        errors.append((np.abs(end.g - exact.g).max(), np.abs(INERTIA * velocity - exact.mu).max()))
    slopes = [float(-np.polyfit(np.log(COUNTS), np.log(error), 1)[0]) for error in np.array(errors).T]
    own = diagnostics.convergence(BODY, scheme, STATE, t1=2.0, steps=COUNTS, exact=exact)
    slopes += [float(np.polyfit(np.log(own.dt), np.log(error), 1)[0]) for error in (own.error_g, own.error_mu)]
    return Start(*slopes)


def modified_invariants(h: float = 0.1, steps: int = 2000) -> dict[str, dict[str, float]]:
    """How far quantities near the invariants move, for each momentum method that there is: those of Pi - (h/2) Pi x
    Omega, which TLN keeps, and those between two nodes, which FLV keeps."""
    return {name: _modified(name, h, steps) for name in ("mln", "tln", "flv") if name in FREE_CHOICES}


def _modified(name: str, h: float, steps: int) -> dict[str, float]:
    run = nd.simulate(BODY, STATE, t1=steps * h, dt=h, method=method(name), save_every=1, progress=False)
    Pi = run.mu.to_numpy()
    Omega = Pi / INERTIA
    m = Pi - 0.5 * h * np.cross(Pi, Omega)
    between = 0.5 * (Pi[1:] + Pi[:-1])
    quantities = {
        "size of Π": np.sum(Pi**2, axis=1),
        "H(Π)": np.sum(Pi * Omega, axis=1),
        "size of m": np.sum(m**2, axis=1),
        "H(m)": np.sum(m**2 / INERTIA, axis=1),
        "size between nodes": np.sum(between**2, axis=1),
        "Π · J⁻¹ Π of two nodes": np.sum(Pi[1:] * Omega[:-1], axis=1),
    }
    return {what: float(np.abs(values / values[0] - 1.0).max()) for what, values in quantities.items()}
