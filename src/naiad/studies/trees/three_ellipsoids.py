"""The three ellipsoids of Lee, Leok and McClamroch: their shapes, joints, inertias and initial velocities."""

import numpy as np

import naiad as nd

AXES = ((8.0, 1.5, 2.0), (5.0, 0.8, 1.5), (5.0, 0.8, 1.5))
OMEGA = ((0.2, 0.1, 0.5), (0.1, -0.3, -0.2), (-0.1, 0.4, -0.6))
XDOT = (0.0, -0.4142, -0.59)
PARENTS = (-1, 0, 0)
OTHER = ((0.0, 0.0, 0.0), (8.8, 0.0, 0.0), (-8.8, 0.0, 0.0))
OUTWARD = ((0.0, 0.0, 0.0), (-5.5, 0.0, 0.0), (5.5, 0.0, 0.0))
"""Joints in the bodies' own frames. The paper prints the other sign, with which the bodies lie in each other."""

PRINTED_M = ((1.0659, 2.1696, 1.6641), (0.2664, 0.6551, 0.3677), (0.2664, 0.6551, 0.3677))
PRINTED_J = ((1.3480, 20.1500, 25.3276), (0.1961, 1.7889, 2.9210), (0.1961, 1.7889, 2.9210))
UNIT_MASS = 1.0 / nd.hydro.Ellipsoid(AXES[0]).volume
"""The density with which body 0 has the mass 1, as the printed inertias do."""

JOINTS = {"outward": "outside of the bodies", "printed": "with the paper's sign: the bodies overlap"}
INERTIAS = {"printed": "the paper's, with four decimals", "exact": "of ellipsoids in an ideal fluid, in closed form"}


def three_ellipsoids(joints: str = "outward", inertia: str = "printed") -> nd.models.ConnectedBodies:
    """The bodies of the paper with either sign of the joints, and either inertias."""
    own = np.array(OUTWARD) if joints == "outward" else -np.array(OUTWARD)
    overlap = joints == "printed"
    if inertia == "exact":
        return nd.models.ConnectedBodies.ellipsoids(
            AXES, PARENTS, own=own, other=OTHER, fluid=UNIT_MASS, overlap=overlap
        )
    tree = nd.Tree(PARENTS, PRINTED_J, PRINTED_M, own=own, other=OTHER)
    return nd.models.ConnectedBodies(tree, shapes=AXES, overlap=overlap)
