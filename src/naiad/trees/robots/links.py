"""The links of a URDF or an SDF file, which have the same elements with other contents."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from naiad.errors import InputError
from naiad.trees.robots.robot import Geometry, Inertial, Link
from naiad.trees.robots.xml import attribute, child


def read_links(
    within: ElementTree.Element,
    file: str,
    folder: Path,
    inertial: Callable[[ElementTree.Element, str], Inertial],
    geometry: Callable[[ElementTree.Element, str, Path], Geometry],
) -> dict[str, Link]:
    """The links of an element by their names, without joints; `inertial` and `geometry` read what is inside them."""
    links: dict[str, Link] = {}
    for element in within.findall("link"):
        name = attribute(element, "name", file)
        if name in links:
            raise InputError(f"{file}: two links have the name {name!r}.")
        where, own = f"{file}: link {name!r}", element.find("inertial")
        collision, visual = (
            tuple(geometry(each, f"{where}, {kind}", folder) for each in element.findall(kind))
            for kind in ("collision", "visual")
        )
        links[name] = Link(name, None if own is None else inertial(own, where), collision, visual)
    if not links:
        raise InputError(f"{file}: there is no <link> in it.")
    return links


def only_shape(element: ElementTree.Element, where: str) -> ElementTree.Element:
    """The one shape in its <geometry>."""
    inside = list(child(element, "geometry", where))
    if len(inside) != 1:
        raise InputError(f"{where}: <geometry> has {len(inside)} shapes in it; expected one.")
    return inside[0]
