"""What acts on bodies: signals of time, weight, currents, drag and thrusters."""

from naiad.forces.current import Current, Here, as_current
from naiad.forces.drag import Drag
from naiad.forces.force import AbstractForce, Motion, checked_forces, force_on_pose, force_on_product, relative_velocity
from naiad.forces.signals import AbstractSignal, signal
from naiad.forces.thrusters import Thrusters
from naiad.forces.weight import Weight

__all__ = [
    "AbstractForce",
    "AbstractSignal",
    "Current",
    "Drag",
    "Here",
    "Motion",
    "Thrusters",
    "Weight",
    "as_current",
    "checked_forces",
    "force_on_pose",
    "force_on_product",
    "relative_velocity",
    "signal",
]
