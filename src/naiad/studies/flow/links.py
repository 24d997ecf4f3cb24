"""The parameters that studies of the three-link fish share."""

import numpy as np

from naiad.studies.parameters import Block, NameOrNumber, parameter

HYDRO = {"coupled": "the links feel each other through the fluid", "decoupled": "each link as if it were alone"}
BOUNDARIES = {"nystrom": "spectral, round-off at 192 points", "panels": "Hess and Smith, of first order"}
MASSES = {"massless": 0.0, "neutral": 1.0}
"""Densities of the links, relative to the fluid's."""
MASS_TEXTS = {"massless": "links without mass", "neutral": "links as dense as the fluid"}


class Links(Block):
    """Three hinged ellipses in a fluid."""

    a: float = parameter(10.0, unit="m", above=0.0, help="semi-axis of each link along the fish")
    b: float = parameter(1.0, unit="m", above=0.0, help="semi-axis across")
    c: float = parameter(2.0, unit="m", at_least=0.0, help="distance from the tip of a link to its hinge")
    rho: float = parameter(1.0 / np.pi, unit="kg/m^2", above=0.0, help="density of the fluid, per area")


class LinkMass(Block):
    """What they weigh."""

    mass: NameOrNumber = parameter(
        "massless", choices=MASS_TEXTS, at_least=0.0, help="mass of the links; or their density over the fluid's"
    )

    @property
    def density_ratio(self) -> float:
        """The density of the links over that of the fluid."""
        return MASSES[self.mass] if isinstance(self.mass, str) else float(self.mass)


class BoundaryMethod(Block):
    """How the flow around coupled links is computed."""

    boundary: str = parameter("nystrom", choices=BOUNDARIES, help="boundary method of coupled links")
    points: int | None = parameter(None, at_least=8, help="points or panels a link (enough for round-off; 50 panels)")
