"""The integrators that fit every group, by name, for studies on products and powers."""

import naiad as nd
from naiad.studies.methods import CHOICES

NAMES = ("cay", "exp", "midpoint", "compose4", "compose6", "compose8", "rkmk4", "rk4")

GENERAL = {name: CHOICES[name] for name in NAMES}

EULER = nd.Variational(nd.Cayley(), nd.Left())
"""The variational Euler method: the Lagrangian at the left node."""
