"""`naiad list`: the studies, one line each."""

import json

from rich.text import Text

from naiad import studies
from naiad.cli.console import out, say_json
from naiad.cli.options import Json


def list_studies(as_json: Json = False) -> None:
    """List the studies, one line each."""
    summaries = {name: studies.summary(name) for name in studies.STUDIES}
    if as_json:
        say_json(json.dumps([{"name": name, "summary": text} for name, text in summaries.items()], ensure_ascii=False))
        return
    width = max(map(len, summaries), default=0)
    for name, text in summaries.items():
        out().print(Text(name.ljust(width + 2), style="cyan").append(text, style="default"), soft_wrap=True)
