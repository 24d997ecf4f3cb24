"""The drawing of the layers, from pyproject.toml and the docstrings of the packages: `python -m tests.docs.layers`."""

import ast
import html
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "layers.svg"
WIDTH, ROW, GAP = 1080, 46, 10
SHADES = {"cli": "#dbe9f6", "diagnostics": "#e3f1dd", "locomotion": "#fdeccb", "integrators": "#f2f2f2"}
"""The first package of each storey, from the top, with its colour: people, runs, families, foundation."""


def layers() -> list[list[str]]:
    """The packages of each layer, from the top."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


def summary(package: str) -> str:
    """The first sentence of what a package says of itself."""
    place = ROOT / "src" / "naiad" / package
    source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    said = ast.get_docstring(ast.parse(source.read_text())) or ""
    return re.split(r"(?<=[.;])\s", said.replace("\n", " "))[0].rstrip(".;")


def drawing() -> str:
    """An SVG: a row a layer, a box a package."""
    rows, shade, parts = layers(), "#ffffff", []
    for number, packages in enumerate(rows):
        shade = SHADES.get(packages[0], shade)
        wide = (WIDTH - GAP * (len(packages) - 1)) / len(packages)
        for column, package in enumerate(packages):
            x, y = column * (wide + GAP), number * (ROW + GAP)
            parts.append(
                f'<rect x="{x:g}" y="{y}" width="{wide:g}" height="{ROW}" rx="6" fill="{shade}" stroke="#8899aa"/>'
            )
            parts.append(f'<text x="{x + 12:g}" y="{y + 19}" font-weight="bold">{package}</text>')
            letters = int(wide / 6.1) - 3
            said = summary(package)
            said = said if len(said) <= letters else said[: letters - 1].rsplit(" ", 1)[0].rstrip(",:") + " …"
            parts.append(f'<text x="{x + 12:g}" y="{y + 37}" font-size="12" fill="#445566">{html.escape(said)}</text>')
    height = len(rows) * (ROW + GAP) - GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {WIDTH + 4} {height + 4}" font-family="sans-serif" '
    return "\n".join([head + 'font-size="15">', *parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
