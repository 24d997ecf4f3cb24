"""The inertia of the fluid around an outline that moves in any way, for JAX to trace.

The flow is that of `nystrom`: sources of density sigma on the outline, (1/2 + K') sigma = d phi/dn, all per dt. What is
new is the motion: any number of velocities of the outline, those of a rigid body among them.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from naiad.hydro.fourier import wavenumbers


def deforming_inertia(
    z: Complex[Array, " n"], velocities: Complex[Array, "n k"]
) -> tuple[Float[Array, "k k"], Float[Array, ""]]:
    """M, for density 1, of an outline at z(t) at equal steps of t, counterclockwise, and the flux that is lost, the
    error of the nodes.

    The fluid's energy is c . M c / 2 while the outline moves at `velocities` c: M_ij = - int phi_i (V_j . n), n into
    the fluid. No velocity may change the area inside: at rest at infinity, the fluid would have infinite energy.
    """
    n = z.shape[0]
    m = wavenumbers(n)
    dz, ddz = _filtered(z, 1j * m), _filtered(z, -(m**2))
    normal = -1j * dz
    apart = z[:, None] - z + jnp.eye(n)
    inner = jnp.real(normal[:, None] / apart) / n
    inner = _with_diagonal(inner, 0.5 + 0.5 * jnp.imag(ddz / dz) / n)
    motion = jnp.real(jnp.conj(velocities) * normal[:, None])
    density = jnp.linalg.solve(inner, motion)
    Q = jnp.real(_filtered(density, np.where(m == 0.0, 0.0, 1.0 / (1j * np.where(m == 0.0, 1.0, m)))))
    kernel = _with_diagonal(dz / apart, 0.0)  # as in `boundary_values`
    phi = jnp.real(kernel @ Q - jnp.sum(kernel, axis=1)[:, None] * Q - (density - jnp.mean(density, axis=0))) / n
    M = -2.0 * jnp.pi / n * phi.T @ motion
    return 0.5 * (M + M.T), jnp.max(jnp.abs(jnp.sum(inner, axis=0) - 1.0))


def _filtered(values: Any, factor: np.ndarray) -> Any:
    """Values at equal steps, their Fourier coefficients multiplied."""
    return jnp.fft.ifft(jnp.fft.fft(values, axis=0) * factor.reshape(-1, *[1] * (values.ndim - 1)), axis=0)


def _with_diagonal(matrix: Any, diagonal: Any) -> Any:
    return jnp.where(jnp.eye(matrix.shape[0], dtype=bool), diagonal, matrix)
