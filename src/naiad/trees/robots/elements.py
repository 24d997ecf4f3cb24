"""What may stand in a robot file: each element is read, has no effect on a motion, is noted, or is refused."""

import difflib
import functools
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple
from xml.etree import ElementTree

from naiad.errors import InputError

TRUE, FALSE = ("true", "1"), ("false", "0")


class Rule(NamedTuple):
    """The children and attributes of an element, as words with blanks between them.

    - `one`, `many`: children that the reader reads, at most once or any number of times;
    - `attributes`: attributes that it reads;
    - `unseen`: children and attributes that have no effect on a motion, such as colours;
    - `noted`: children and attributes of the specification that naiad does not act on;
    - `refused`: children that are refused, with the reason;
    - `flags`: children that are true or false, with the value that is not noted;
    - `exact`: what is not listed is refused; elsewhere it is noted, since files have extensions.
    """

    one: str = ""
    many: str = ""
    attributes: str = ""
    unseen: str = ""
    noted: str = ""
    refused: Mapping[str, str] = {}
    flags: Mapping[str, bool] = {}
    exact: bool = False


LEAF = Rule(exact=True)


def unread(root: ElementTree.Element, rules: Mapping[str, Rule], file: str, *, text: bool) -> list[str]:
    """Return a note on everything in the file that is not read; raise an `InputError` on what is refused.

    Elements without a rule have neither children nor attributes. They have `text` in SDF, and none in URDF.
    """
    notes: list[str] = []

    def visit(element: ElementTree.Element, owner: str) -> None:
        rule = rules.get(element.tag, LEAF)
        where, before = (f"{file}: {owner}", f"{owner}: ") if owner else (file, "")
        for name in element.attrib:
            if name not in _words(rule.attributes) and name not in _words(rule.unseen):
                if rule.exact and name not in _words(rule.noted) and "}" not in name:
                    expected = _expected(rule.attributes, name)
                    raise InputError(f"{where}: <{element.tag}> has an attribute {name!r}; {expected}.")
                notes.append(f"{before}{_local(name)!r} of its <{element.tag}> is not read")
        tags = [child.tag for child in element]
        if len(set(tags)) < len(tags):
            _check_single(tags, rule, element.tag, where)
        if (not text or rule.one or rule.many) and element.text and (stray := element.text.strip()):
            notes.append(f"{before}the text {stray!r:.40} in its <{element.tag}> is not read")
        for child in element:
            name = child.tag
            if child.tail and (stray := child.tail.strip()):
                notes.append(f"{before}the text {stray!r:.40} after its <{name}> is not read")
            if name in _words(rule.one) or name in _words(rule.many):
                visit(child, _owner(owner, child))
            elif name in rule.refused:
                raise InputError(f"{where}: <{name}> {rule.refused[name]}.")
            elif name in rule.flags:
                if boolean(child.text, f"{where}: <{name}>") != rule.flags[name]:
                    notes.append(f"{before}<{name}> {(child.text or '').strip()} is not read")
            elif name not in _words(rule.unseen):
                if rule.exact and name not in _words(rule.noted) and "}" not in name:
                    known = f"{rule.one} {rule.many}"
                    raise InputError(f"{where}: there is a <{name}> in its <{element.tag}>; {_expected(known, name)}.")
                notes.append(f"{before}<{_local(name)}> is not read")

    visit(root, "")
    return list(dict.fromkeys(notes))


@functools.cache
def _words(text: str) -> frozenset[str]:
    """Return the words of a field of a rule."""
    return frozenset(text.split())


def _check_single(tags: list[str], rule: Rule, tag: str, where: str) -> None:
    for name, count in Counter(tags).items():
        if count > 1 and name in _words(rule.one):
            raise InputError(f"{where}: there are {count} <{name}> in its <{tag}>; expected one.")


def boolean(given: str | None, where: str) -> bool:
    """Return the truth value of a text of an SDF file."""
    word = (given or "").strip().lower()
    if word not in (*TRUE, *FALSE):
        raise InputError(f"{where} = {given!r}; expected true or false.")
    return word in TRUE


def _owner(owner: str, element: ElementTree.Element) -> str:
    """The words by which notes and refusals name what an element belongs to."""
    name = element.get("name")
    if element.tag in ("link", "joint") and name is not None:
        return f"{element.tag} {name!r}"
    if element.tag in ("model", "world", "frame"):
        return f"its {element.tag}"
    if element.tag in ("collision", "visual", "inertial"):
        return f"{owner}, {element.tag}" if owner else element.tag
    return owner


def _expected(known: str, given: str) -> str:
    near = difflib.get_close_matches(given, known.split(), 1)
    if near:
        return f"did you mean {near[0]}"
    return f"expected {', '.join(known.split())}" if known.split() else "expected none"


def _local(name: str) -> str:
    return name.rpartition("}")[2]
