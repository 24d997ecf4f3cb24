"""Links in an order in which every parent comes before its children, or why there is none."""

from collections.abc import Mapping, Sequence

from naiad.errors import InputError


def ordered(file: str, links: Sequence[str], joints: Mapping[str, tuple[str, str]]) -> list[str]:
    """The names of the links, the root first and a branch at a time, for joints by name, (parent, child) each."""
    above: dict[str, str] = {}
    for name, (parent, child) in joints.items():
        for end in (parent, child):
            if end not in links:
                raise InputError(f"{file}: joint {name!r} is at a link {end!r}, which is not there.")
        if child in above:
            raise InputError(
                f"{file}: link {child!r} hangs on two joints, {above[child]!r} and {name!r}: a closed loop. naiad has "
                "trees; leave one of them out."
            )
        above[child] = name
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        what = (
            f"links {', '.join(map(repr, roots))} have no parent" if roots else "every link has a parent: a closed loop"
        )
        raise InputError(f"{file}: {what}; expected one link without, the root.")
    below: dict[str, list[str]] = {link: [] for link in links}
    for parent, child in joints.values():
        below[parent].append(child)
    found, waiting = [], [roots[0]]
    while waiting:
        link = waiting.pop()
        found.append(link)
        waiting += reversed(below[link])
    if len(found) < len(links):
        lost = next(link for link in links if link not in found)
        raise InputError(f"{file}: link {lost!r} is not joined to the root {roots[0]!r}: its joints are a closed loop.")
    return found
