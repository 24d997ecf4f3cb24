"""Formulas are typeset when the pages are built, so that a browser needs no script for them: a hook of mkdocs.

A fenced block `math` holds LaTeX and becomes MathML. In the text of pages and docstrings formulas are written as
letters, as in `g_{k+1}`, `Ad*_g`, `R^n` or `kg m^2`, and get their indices and exponents.
"""

import html as entities
import re
from typing import Any

_DISPLAY = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
_SKIPPED = re.compile(r"<(pre|code|h[1-6]|a|math|svg)\b.*?</\1>|<[^>]*>", re.DOTALL)
_NAMES = "Ad|ad|tau|dtau|dexp|sum|mu|xi|eta|nu|ell|theta|phi|lambda|kappa|Pi|Omega|Theta|dτ|DΦ|cos|sin"
_EXPONENT = re.compile(r"(?<=[^\s^])\^(\{[^{}]*\}|\([^()]*\)|[-−+]?(?:\d+|½|[^\W\d_])(?![^\W_])|[-−+](?=[\s,.;)]|$))")
_BRACED = re.compile(r"(?<=[^\s_])_\{([^{}]*)\}")
_INDEX = re.compile(rf"(?<![A-Za-z0-9_.])(δ?(?:{_NAMES}|[^\W\d_]|∂)[*⁻¹⁺′']*)_([^\W_]{{1,2}})(?!\w)")


def on_page_content(html: str, **_: Any) -> str:
    """The page with its formulas."""
    return indexed(_DISPLAY.sub(lambda found: displayed(entities.unescape(found[1])), html))


def displayed(latex: str) -> str:
    """A formula on lines of its own, as MathML."""
    from latex2mathml.converter import convert

    made = convert(latex.strip(), display="block")
    unknown = re.search(r"<m[io]>(\\\w+|&|&amp;)</m[io]>", made)
    if unknown:
        raise ValueError(f"{unknown[1]} cannot be typeset, in the formula {latex.strip()}")
    lined_up = made.replace('columnalign="left"', 'style="text-align: left; padding: 0.4em 0.6em"')
    return f'<div style="overflow-x: auto">{lined_up}</div>'  # a long one is moved under a narrow window, not out of it


def indexed(html: str) -> str:
    """The content with indices and exponents, outside tags, code, headings and links."""
    parts, end = [], 0
    for skipped in _SKIPPED.finditer(html):
        parts += [_lowered(html[end : skipped.start()]), skipped[0]]
        end = skipped.end()
    return "".join([*parts, _lowered(html[end:])])


def _lowered(text: str) -> str:
    text = _EXPONENT.sub(lambda found: f"<sup>{_bare(found[1])}</sup>", text)
    text = _BRACED.sub(lambda found: f"<sub>{_lowered(found[1])}</sub>", text)
    return _INDEX.sub(r"\1<sub>\2</sub>", text)


def _bare(exponent: str) -> str:
    """Without its braces, and with a sign that is a minus."""
    return (exponent[1:-1] if exponent.startswith("{") else exponent).replace("-", "−")
