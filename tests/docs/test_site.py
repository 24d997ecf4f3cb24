"""The site: examples that are run, live pages where there are some, and links that lead somewhere."""

import ast
import html
import json
import os
import re
import subprocess
import sys
from importlib import metadata

import pytest
from fsspec.registry import known_implementations

from benchmarks.javascript import engines
from tests.docs.extras import missing
from tests.docs.test_examples import PAGES, ROOT, text
from tests.docs.test_extensions import extension

DOCS = ROOT / "docs"
LINKS, LIVE, RUNNING, EXECUTED = (extension(name) for name in ("links", "live", "running", "executed"))

EXAMPLE = """# Title

```python
from pathlib import Path

a = 2
print("a <b> of", a)
a + 1
```

Between.

```python
Path("made.svg").write_text("<svg/>")
```

```python
class Shown:
    def _repr_html_(self):
        return "<b>rich</b>"


Shown()
```

```py
not_run()
```
"""


def test_a_page_shows_what_its_blocks_give(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(EXAMPLE)
    command = [sys.executable, ROOT / "docs" / "extensions" / "executed.py", page, tmp_path / "kept"]
    subprocess.run(command, check=True)
    shown = json.loads((tmp_path / "kept" / "shown.json").read_text())
    assert shown == [
        [{"text": "a <b> of 2"}, {"text": "3"}],
        [{"text": "6"}, {"file": "1-made.svg"}],
        [{"html": "<b>rich</b>"}],
    ]
    assert (tmp_path / "kept" / "1-made.svg").read_text() == "<svg/>"
    made = RUNNING.with_shown(EXAMPLE, shown, "gallery/page.md")
    assert "<code>a &lt;b&gt; of 2</code>" in made
    assert "![What this block draws](../drawn/gallery/page/1-made.svg)" in made
    assert '<div class="shown"><b>rich</b></div>' in made
    assert made.index("a + 1") < made.index("&lt;b&gt;") < made.index("Between.") < made.index("1-made.svg")
    plain = RUNNING.with_shown(EXAMPLE, shown, "page.md")
    assert "![What this block draws](drawn/page/1-made.svg)" in plain
    assert "rich</b></div>" not in plain


def test_an_example_that_fails_says_where(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```python\na = 1\na / 0\n```\n")
    command = [sys.executable, ROOT / "docs" / "extensions" / "executed.py", page, tmp_path / "kept"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "page.md" in done.stderr
    assert "line 5" in done.stderr
    assert not (tmp_path / "kept" / "shown.json").exists()


def test_pages_that_draw_are_run():
    chosen = {str(page.relative_to(ROOT / "docs")) for page in PAGES if "docs" in page.parts}
    run = {uri for uri in chosen if RUNNING.is_run(uri, text(ROOT / "docs" / uri))}
    assert {"index.md", "getting-started.md", "pictures.md", "gallery/fit.md"} <= run
    assert not {"compiler.md", "references.md", "gallery/index.md"} & run
    assert sum(uri.startswith("gallery/") for uri in run) == 12


def test_live_pages_are_framed():
    page = "# naiad\n\n<!-- live: heavy-top -->\n\nText.\n"
    assert 'src="../live/heavy-top.html"' in LIVE.with_live_pages(page, "gallery/x.md")
    assert 'src="live/heavy-top.html"' in LIVE.with_live_pages(page, "index.md")
    assert "<!-- live: heavy-top -->" in text(ROOT / "docs" / "index.md")


def test_search_runs_in_a_frame_where_the_site_is_a_file():
    """In Chromium, if it is here: what stands for a worker gets messages and answers them."""
    script = text(ROOT / "docs" / "javascripts" / "iframe-worker.js")
    ask = """addEventListener("DOMContentLoaded", () => {
      const worker = new Worker("data:text/javascript,addEventListener(%22message%22,(e)=>postMessage(2*e.data))");
      worker.addEventListener("message", (event) => report(String(event.data)));
      worker.postMessage(21);
    });"""
    for run in [run for name, run in engines().items() if name == "Chromium"]:
        assert run(script + ask) == "42"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('<a href="other.html#there">', ""),
        ('<a href="#here"><h2 id="here">', ""),
        ('<a href="https://example.org/x">', ""),
        ('<a href="a%20b.html">', ""),
        ('<a href="missing.html">', "index.html: missing.html leads nowhere"),
        ('<a href="other.html#gone">', "index.html: other.html#gone names a place that is not there"),
        ('<a href="#gone">', "index.html: #gone names a place that is not there"),
        ('<a href="folder/">', "index.html: folder/ is a folder, which a browser does not open from a file"),
        ('<img src="no.png">', "index.html: no.png leads nowhere"),
        ('<script src="https://example.org/x.js">', "index.html loads https://example.org/x.js from another host"),
    ],
)
def test_every_link_of_a_site_is_followed(tmp_path, content, fault):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a b.html").write_text("")
    (tmp_path / "other.html").write_text('<p id="there"><a href="index.html">')
    (tmp_path / "404.html").write_text('<a href="/other.html#there">')
    (tmp_path / "index.html").write_text(content)
    assert LINKS.faults(tmp_path) == ([fault] if fault else [])


def anchors(page):
    """The addresses of the headings of a page, as mkdocs makes them."""
    outside = re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL)
    return {
        re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", html.unescape(heading.replace("`", ""))).strip().lower())
        for heading in re.findall(r"^#+ (.+)$", outside, re.MULTILINE)
    }


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs" / "api").glob("*.md"))], ids=lambda page: page.stem)
def test_every_link_of_the_sources_leads_somewhere(page):
    outside = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text(page), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", outside):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_the_first_page_and_the_readme_name_every_page():
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md", "changelog.md", "references.md"}
    assert pages - set(re.findall(r"\(([a-z-]+\.md)\)", (ROOT / "docs/index.md").read_text())) == set()
    named = set(re.findall(r"docs/([a-z-]+\.md)", (ROOT / "README.md").read_text()))
    assert pages - {"api.md", "contributing.md"} - named == set()


RUN = [page for page in PAGES if page.is_relative_to(DOCS) and RUNNING.is_run(str(page.relative_to(DOCS)), text(page))]
"""The pages whose blocks `make docs` runs."""
ADDRESS = re.compile(r"^(\w+)://")


def addresses(code):
    """The strings of a block that are addresses, which fsspec opens."""
    strings = [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    return [string for string in strings if isinstance(string, str) and ADDRESS.match(string)]


def modules(code):
    """What a block imports, and what opens its addresses."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]
    for address in addresses(code):
        yield "fsspec"
        opened_by = known_implementations.get(ADDRESS.match(address)[1], {"class": "fsspec"})["class"]
        yield opened_by.partition(".")[0]


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_extra_docs_installs_what_a_page_that_is_run_imports_and_opens(page):
    needed = {module for _, code in EXECUTED.blocks(text(page)) for module in modules(code)}
    assert not needed - {"naiad"} - sys.stdlib_module_names - metadata.packages_distributions().keys(), "not known here"
    assert not needed & missing("docs")


@pytest.mark.long
@pytest.mark.parametrize(
    "page",
    [page for page in RUN if any(addresses(code) for _, code in EXECUTED.blocks(text(page)))],
    ids=lambda page: page.stem,
)
def test_a_page_with_addresses_runs_with_the_extra_docs_alone(page, tmp_path):
    command = ["-m", "tests.docs.extras", "docs", DOCS / "extensions" / "executed.py", page, tmp_path]
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
    environment = dict(os.environ, PYTHONPATH=paths)
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)
    assert not done.returncode, done.stderr[-2000:]
    assert (tmp_path / "shown.json").is_file()
