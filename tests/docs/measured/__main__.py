"""Prints the blocks of the pages as they should stand: `python -m tests.docs.measured NAME`, or `--all`.

With `--write` they are put into the pages.
"""

import argparse

from tests.docs.measured.everything import MEASURES
from tests.docs.measured.numbers import replaced
from tests.docs.measured.pages import PAGES, Block, blocks, found_numbers


def refreshed(block: Block, name: str) -> str:
    """The block with the numbers that are computed now."""
    return replaced(block.text, *found_numbers(block, MEASURES[name].compute()))


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.docs.measured", description=__doc__)
    parser.add_argument("names", nargs="*", help="names in marks", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="every one")
    parser.add_argument("--write", action="store_true", help="change the pages")
    given = parser.parse_args()
    names = list(MEASURES) if given.all else given.names
    if not names or not set(names) <= set(MEASURES):
        parser.error(f"give --all, or some of: {', '.join(MEASURES)}")
    for page in PAGES:
        for block in reversed(list(blocks(page))):  # from the end, so that places stay what they are
            for name in [name for name in block.names if name in names]:
                made = refreshed(block, name)
                print(f"<!-- {page.name}: {name}{'' if made == block.text else ', changed'} -->\n\n{made}", flush=True)
                if given.write:
                    text = page.read_text(encoding="utf-8")
                    rest = text[block.start + len(block.text) :]
                    page.write_text(text[: block.start] + made + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
