"""Docstrings hold mathematics, not HTML or emphasis: <mu, xi> and Ad*_g must reach the page as they are written."""

import re
from typing import Any

import griffe

_CODE_OR_SIGN = re.compile(r"(`+).*?\1|<(?=[A-Za-z/])|[*_]", re.DOTALL)
_ESCAPES = {"<": "&lt;", "*": r"\*", "_": r"\_"}


class Mathematics(griffe.Extension):
    """Escapes what Markdown would take for markup, outside code, and names the fields of classes."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object once it is read."""
        if obj.docstring is not None:
            paragraphs = re.split(r"(\n\s*\n)", obj.docstring.value)
            obj.docstring.value = "".join(_escaped(text) for text in paragraphs)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Fields that are the arguments of a class without an `__init__` are shown, also without a docstring."""
        if "__init__" in cls.members:
            return
        for member in cls.members.values():
            if member.docstring is None and _is_field(member):
                member.docstring = griffe.Docstring("&#8203;", parent=member)


def _escaped(paragraph: str) -> str:
    if paragraph.startswith("    "):
        return paragraph
    return _CODE_OR_SIGN.sub(lambda found: _ESCAPES.get(found.group(), found.group()), paragraph)


def _is_field(member: Any) -> bool:
    if not isinstance(member, griffe.Attribute) or member.annotation is None or member.name.startswith("_"):
        return False
    return "ClassVar" not in str(member.annotation)
