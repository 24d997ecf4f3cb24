"""Runs the Python of a page and keeps what its blocks show: `python executed.py PAGE.md FOLDER`.

As in a notebook, a block shows what it prints, the value of its last line, and the pictures and pages that it writes.
The files, and `shown.json`, which has them for each block, go to the folder. The blocks of a page share one namespace.
"""

import ast
import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURES = (".png", ".svg", ".gif", ".html")
LONGEST = 4000  # letters of what is printed


def blocks(text: str) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the number of its first line."""
    return [(text.count("\n", 0, fence.start(1)) + 1, fence[1]) for fence in FENCE.finditer(text)]


def run_page(page: Path, folder: Path) -> list[list[dict[str, str]]]:
    """Run the blocks in a folder of their own; for each what it shows, and the files in `folder`."""
    module = types.ModuleType("documentation")
    sys.modules[module.__name__] = module
    shown = []
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        for number, (line, code) in enumerate(blocks(page.read_text(encoding="utf-8"))):
            before = _pictures(Path(place))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                value = _run(code, line, str(page), vars(module))
            parts = [{"text": printed.getvalue()[:LONGEST].rstrip()}] if printed.getvalue().strip() else []
            written = [path for path, stamp in _pictures(Path(place)).items() if before.get(path) != stamp]
            if isinstance(value, Path):
                value = None  # of a picture that was written
            parts += _value(value, folder / f"{number}.png")
            for path in written:
                name = f"{number}-{path.name}"
                shutil.copyfile(path, folder / name)
                parts.append({"file": name})
            shown.append(parts)
    return shown


def _run(code: str, line: int, name: str, names: dict[str, Any]) -> Any:
    """The value of the last line of a block, if it is an expression."""
    tree = ast.increment_lineno(ast.parse(code, name), line - 1)
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    body = tree.body[:-1] if last is not None else tree.body
    exec(compile(ast.Module(body, []), name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names) if last is not None else None


def _value(value: Any, picture: Path) -> list[dict[str, str]]:
    """What a notebook would show of a value."""
    if hasattr(value, "savefig"):
        value.savefig(picture, dpi=110, bbox_inches="tight", facecolor="white")
        return [{"file": picture.name}]
    if hasattr(value, "_repr_html_"):
        return [{"html": value._repr_html_()}]
    return [] if value is None else [{"text": repr(value)[:LONGEST]}]


def _pictures(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in sorted(folder.iterdir()) if path.suffix in PICTURES}


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    source, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    found = json.dumps(run_page(source, target))
    (target / "shown.json").write_text(found, encoding="utf-8")
