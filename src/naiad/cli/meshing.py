"""`naiad mesh FILE`: what a surface from a CAD program is in water."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from naiad.cli.console import err, out, say_json
from naiad.cli.options import Json
from naiad.errors import InputError

File = Annotated[Path, typer.Argument(metavar="FILE", help="A closed surface of triangles: .stl, .obj, .ply or .glb.")]
Unit = Annotated[str, typer.Option("--unit", help="What its numbers are in: m, cm, mm, in, ft.")]
Density = Annotated[float, typer.Option("--density", help="Of the water, in kg/m^3.")]
Tolerance = Annotated[float, typer.Option("--tolerance", help="The relative error that the added inertia may have.")]
Simplify = Annotated[
    int | None, typer.Option("--simplify", help="Take it in so many triangles or fewer, of the same volume.")
]
Picture = Annotated[Path | None, typer.Option("--picture", help="Draw it into this file (.png, .svg, .pdf).")]
Sdf = Annotated[
    bool, typer.Option("--sdf", help="Print the <inertial> element of SDF for a body of the water's density.")
]


def show_mesh(
    file: File,
    unit: Unit,
    density: Density = 1000.0,
    tolerance: Tolerance = 1e-2,
    simplify: Simplify = None,
    picture: Picture = None,
    sdf: Sdf = False,
    as_json: Json = False,
) -> None:
    """Check a mesh and compute its volume, its centre and its added inertia with an estimate of the error."""
    from naiad.files import whole_file
    from naiad.hydro import Mesh
    from naiad.hydro.meshes.sdf import inertial
    from naiad.hydro.meshes.telling import telling
    from naiad.studies.values import to_json

    if picture is not None and picture.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"--picture {picture}: expected a name that ends in .png, .svg or .pdf.")
    mesh = Mesh.read(file, unit, tolerance=tolerance, simplify=simplify)
    with err().status("solving for the flow ...") as status, telling(lambda at: status.update(str(at))):
        found = mesh.report(density)
    if picture is not None:
        from naiad.viz.surfaces import mesh_picture

        with whole_file(picture) as aside:
            mesh_picture(mesh, file.name).savefig(aside, format=picture.suffix[1:].lower(), dpi=200)
    if as_json:
        say_json(to_json(found._asdict()))
    elif sdf:
        out().print(Text(inertial(mesh, density)), soft_wrap=True)
    else:
        out().print(Text(str(found)), soft_wrap=True)
