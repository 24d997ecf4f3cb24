"""Citations become links and formulas get their indices when the pages are built."""

import importlib.util
import re

import pytest

from tests.docs.test_examples import PAGES, ROOT, SOURCES, citations, text


def extension(name):
    """A hook of mkdocs, which are files and no package."""
    found = importlib.util.spec_from_file_location(name, ROOT / "docs" / "extensions" / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


CITATIONS, FORMULAS = extension("citations"), extension("formulas")


@pytest.mark.parametrize(
    ("url", "place"),
    [("index.html", ""), ("methods.html", ""), ("api/groups.html", "../"), ("gallery/heat.html", "../")],
)
def test_a_citation_is_a_link_from_every_page(url, place):
    made = CITATIONS.linked("as in [bourabee2007, eq. (4.6.3)], not <code>[advected]</code>", url)
    link = f'<a href="{place}references.html#bourabee2007">bourabee2007</a>'
    assert made == f"as in [{link}, eq. (4.6.3)], not <code>[advected]</code>"


def test_the_reference_links_to_the_equations_of_the_guides():
    known = CITATIONS.homes(
        {
            "algorithm.html": "x [lee2009,\neqs. (4.1)–(4.3)] and [lee2009, section 2], `[lee2009, eq. (9)]`",
            "hydro.html": "again [lee2009, eq. (4.2)], and [lee2010, eq. (5), corrected]",
        }
    )
    assert {mark: home.url for (_, mark), home in known.items() if mark != "(9)"} == {
        "(4.1)": "algorithm.html",
        "(4.2)": "algorithm.html",
        "(4.3)": "algorithm.html",
        "section 2": "algorithm.html",
        "(5)": "hydro.html",
    }
    made = CITATIONS.linked("[lee2009, eq. (4.2)], [lee2009, eq. (7)]", "api/trees.html", known)
    assert '<a href="../algorithm.html#lee2009-4-2">eq. (4.2)</a>' in made
    assert "</a>, eq. (7)]" in made
    here = CITATIONS.linked("[lee2009, eqs. (4.1)–(4.3)], [lee2009, eq. (4.2)]", "algorithm.html", known)
    assert re.findall(r'id="([^"]+)"', here) == ["lee2009-4-1", "lee2009-4-2", "lee2009-4-3"]


def test_some_citations_of_the_code_lead_to_equations():
    known = CITATIONS.homes({f"{name}.html": text(ROOT / "docs" / f"{name}.md") for name in CITATIONS.GUIDES})
    made = "".join(CITATIONS.linked(text(path), "api/x.html", known) for path in SOURCES)
    assert len(re.findall(r'<a href="\.\./(?!references)[\w-]+\.html#', made)) >= 25


def test_every_citation_of_pages_and_docstrings_is_linked_to_an_entry_of_the_list():
    rows = re.findall(r"^\| `(\w+)` \|", text(ROOT / "docs/references.md"), re.MULTILINE)
    page = CITATIONS.with_targets("".join(f"<td><code>{key}</code></td>" for key in rows))
    targets = set(re.findall(r'<td id="(\w+)">', page))
    for path in [*SOURCES, *PAGES]:
        linked = set(re.findall(r'href="\.\./references\.html#(\w+)"', CITATIONS.linked(text(path), "x/y.html")))
        assert linked == citations(text(path)), path
        assert linked <= targets, path


@pytest.mark.parametrize(
    ("written", "typeset"),
    [
        ("g_{k+1} = g_k τ(hξ)", "g<sub>k+1</sub> = g<sub>k</sub> τ(hξ)"),
        ("Ad*_{f^−½} F", "Ad*<sub>f<sup>−½</sup></sub> F"),
        ("D_{K_i} S, δL_d, a_ij", "D<sub>K<sub>i</sub></sub> S, δL<sub>d</sub>, a<sub>ij</sub>"),
        ("dtau^-1_{h xi} mu_k", "dtau<sup>−1</sup><sub>h xi</sub> mu<sub>k</sub>"),
        ("R^n, 2^53, kg m^2/s, A^(1/2)", "R<sup>n</sup>, 2<sup>53</sup>, kg m<sup>2</sup>/s, A<sup>(1/2)</sup>"),
        (
            "Rᵀe_z, g⁻¹a_0, ∂_a, -F^-, F^+.",
            "Rᵀe<sub>z</sub>, g⁻¹a<sub>0</sub>, ∂<sub>a</sub>, -F<sup>−</sup>, F<sup>+</sup>.",
        ),
        ("save_every, mu_plus, is_a", None),
        ('<code>g_k</code> <h3 id="J_d">J_d</h3> <a href="x_y">x_y</a> <pre>m^2</pre>', None),
    ],
)
def test_indices_and_exponents_are_set_outside_code(written, typeset):
    assert FORMULAS.indexed(written) == (typeset or written)


def test_formulas_are_written_with_what_is_typeset():
    """Each pair of delimiters is closed, and a row ends in a plain double backslash."""
    for page in PAGES:
        for formula in re.findall(r"^```math\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL):
            assert formula.count("{") == formula.count("}"), page
            assert formula.count(r"\left") == formula.count(r"\right"), page
            assert not re.search(r"\\\\\[|aligned", formula), page
