"""Numbers of docs/hydro.md and docs/vortices.md."""

import numpy as np

from naiad import hydro
from tests.docs.measured.registry import measured
from tests.hydro.surfaces import box, cylinder, ellipsoid, torus
from tests.hydro.test_mesh import CUBE, CYLINDER, TORUS, relative_error
from tests.hydro.wagner import excess_of_lift, wagner

AXES = (2.0, 1.0, 0.5)
MESHES = [
    (box(1.0, 1.0, 1.0), CUBE, False),
    (cylinder(24), CYLINDER, True),
    (cylinder(64), CYLINDER, True),
    (ellipsoid(2, *AXES), np.diag(hydro.Ellipsoid(AXES).added_inertia(1.0)), True),
    (ellipsoid(3, *AXES), np.diag(hydro.Ellipsoid(AXES).added_inertia(1.0)), True),
    (torus(24, 16), TORUS, True),
    (torus(48, 32), TORUS, True),
]
"""What is given, its inertia, and whether facets stand for something smooth, so that two errors are told."""


@measured("errors-of-meshes")
def errors_of_meshes():
    rows = []
    for (vertices, triangles), exact, smooth in MESHES:
        mesh = hydro.Mesh(vertices, triangles)
        said = [mesh.added_error, mesh.solution.from_triangles][: 1 + smooth]
        rows += [len(triangles), mesh.solution.triangles, *said, relative_error(mesh, np.diag(exact))]
    return rows


@measured("simplified-meshes")
def simplified_meshes():
    """Errors are those beside the ellipsoid, of which 5120 triangles have less volume."""
    exact, given = hydro.Ellipsoid(AXES).added_inertia(1.0), hydro.Mesh(*ellipsoid(4, *AXES))
    rows = []
    for mesh in (given, given.simplified(1280), given.simplified(320)):
        rows.append((mesh.added_error, relative_error(mesh, exact)))
    return {
        "| as it is | # | # |": rows[0],
        "| simplified to 1280 | # | # |": rows[1],
        "| simplified to 320 | # | # |": rows[2],
    }


@measured("points-of-an-ellipse", quick=True)
def points_of_an_ellipse():
    exact = hydro.EllipticCylinder(10.0, 1.0).added_inertia(1.0)

    def off(points):
        found = hydro.PlanarBodies([hydro.Ellipse(10.0, 1.0)], points=points).added_inertia()
        return np.max(np.abs(found - exact)) / np.max(exact)

    assert off(192) < 1e-13
    return {"(an error of # with 64, # with 96, # with 128)": [off(points) for points in (64, 96, 128)]}


@measured("lift-of-wagner")
def lift_of_wagner():
    """By how many per cent the lift after 1, 2, 4 and 9 half-chords exceeds Wagner's, for three steps."""
    return [100.0 * error for dt in (0.1, 0.05, 0.025) for error in excess_of_lift(dt, t1=9.2)[1]]


@measured("jones-of-wagner", quick=True)
def jones_of_wagner():
    def off(s):
        return 100.0 * abs((1.0 - 0.165 * np.exp(-0.0455 * s) - 0.335 * np.exp(-0.3 * s)) / wagner(s) - 1.0)

    return {"off by up to # %, and by # %": (max(off(s) for s in np.linspace(0.0, 9.0, 181)), off(9.0))}
