"""Pages show what their examples draw: their Python is run when the site is built. A hook of mkdocs.

A page of the gallery shows everything that a notebook would, any other page its figures, films and pages. What was run
is kept in `.docs-cache`, by the text of the page and the sources of naiad.
"""

import hashlib
import html
import json
import logging
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".docs-cache"
RUNNER = Path(__file__).with_name("executed.py")
GALLERY = "gallery/"
DRAWS = (".savefig(", ".plot(", ".animate(")
AT_ONCE = 2
log = logging.getLogger("mkdocs.hooks.running")

_shown: dict[str, list[list[dict[str, str]]]] = {}


def on_files(files: Any, *, config: Any) -> Any:
    """Run the pages that draw, and add their pictures to the site."""
    from mkdocs.structure.files import File

    pages = {file.src_uri: Path(file.abs_src_path) for file in files.documentation_pages() if file.abs_src_path}
    chosen = {uri: path for uri, path in pages.items() if is_run(uri, path.read_text(encoding="utf-8"))}
    sources = _digest(*sorted((ROOT / "src" / "naiad").rglob("*.py")), RUNNER)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        places = dict(zip(chosen, pool.map(lambda uri: _kept(uri, chosen[uri], sources), chosen), strict=True))
    for uri, place in places.items():
        _shown[uri] = json.loads((place / "shown.json").read_text(encoding="utf-8"))
        for name in sorted({part["file"] for parts in _shown[uri] for part in parts if "file" in part}):
            files.append(File.generated(config, f"{folder_of(uri)}/{name}", content=(place / name).read_bytes()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with what its blocks show after each."""
    uri = page.file.src_uri
    return with_shown(markdown, _shown[uri], uri) if uri in _shown else markdown


def is_run(uri: str, text: str) -> bool:
    """Whether the examples of a page are run: in the gallery always, elsewhere where they draw."""
    from_here = _extension("executed")
    return any(uri.startswith(GALLERY) or any(word in code for word in DRAWS) for _, code in from_here.blocks(text))


def with_shown(text: str, shown: list[list[dict[str, str]]], uri: str) -> str:
    """The text of the page at `uri` with what its blocks show; text and tables only in the gallery."""
    everything = uri.startswith(GALLERY)
    depth = uri.count("/")
    parts, end = [], 0
    for fence, found in zip(_extension("executed").FENCE.finditer(text), shown, strict=True):
        parts.append(text[end : fence.end()])
        end = fence.end()
        for part in found:
            if "file" in part:
                parts.append(_picture("../" * depth + f"{folder_of(uri)}/{part['file']}"))
            elif everything:
                parts.append(_words(part))
    return "".join([*parts, text[end:]])


def folder_of(uri: str) -> str:
    """Where the pictures of a page are in the site."""
    return "drawn/" + uri.removesuffix(".md")


def _words(part: dict[str, str]) -> str:
    if "html" in part:
        return f'\n\n<div class="shown">{" ".join(part["html"].split())}</div>\n'
    return f'\n\n<pre class="shown"><code>{html.escape(part["text"])}</code></pre>\n'


def _picture(path: str) -> str:
    if path.endswith(".html"):
        return f'\n\n<iframe class="page" src="{path}" title="A page that this block writes" loading="lazy"></iframe>\n'
    return f"\n\n![What this block draws]({path})\n"


def _kept(uri: str, page: Path, sources: str) -> Path:
    """Where what a page shows is kept; it is run if it never was."""
    folder = CACHE / uri.removesuffix(".md").replace("/", "--")
    place = folder / f"{_digest(page)[:16]}-{sources[:16]}"
    if (place / "shown.json").is_file():
        return place
    log.info("running the examples of %s", uri)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, str(RUNNER), str(page), str(place)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        from mkdocs.exceptions import PluginError

        shutil.rmtree(place, ignore_errors=True)
        raise PluginError(f"{page}: an example fails:\n{done.stderr[-3000:]}")
    for old in folder.iterdir():
        if old != place:
            shutil.rmtree(old, ignore_errors=True)
    return place


def _digest(*paths: Path) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def _extension(name: str) -> Any:
    """A file beside this one, which is no package."""
    import importlib.util

    if name not in sys.modules:
        known = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert known is not None
        assert known.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(known)
        known.loader.exec_module(sys.modules[name])
    return sys.modules[name]
