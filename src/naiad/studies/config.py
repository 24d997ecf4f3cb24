"""Parameters of a study in a file: `study = "eel"`, then a table `[parameters]`, in TOML."""

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naiad import studies
from naiad.errors import InputError
from naiad.studies.values import plain

if TYPE_CHECKING:
    from naiad.studies.study import Study


def read_config(path: Path, name: str | None = None, assignments: Iterable[str] = ()) -> "Study":
    """The study that a file describes, with other values for some parameters, as `name=value`."""
    kind, values = read_toml(path, name)
    return kind(**{**values, **kind.assigned(assignments)})


def read_toml(
    path: Path, name: str | None = None, tables: tuple[str, ...] = ("parameters",)
) -> "tuple[type[Study], dict[str, Any]]":
    """The study that a file names, and the parameters of its tables."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from error
    except RecursionError:
        raise InputError(
            f"{path}: lists or tables nested too deeply to be read; expected one table [parameters]."
        ) from None
    study, values = found.pop("study", name), [found.pop(table, {}) for table in tables]
    found.pop("naiad", None)
    if found:
        raise InputError(f"{path}: {next(iter(found))} is not known; expected study = ..., and a table [parameters].")
    if not isinstance(study, str) or not all(isinstance(each, dict) for each in values):
        raise InputError(f'{path}: expected study = "NAME", and a table [parameters].')
    if name is not None and name != study:
        raise InputError(f"{path} is for {study}, not for {name}; leave the name out, or give another file.")
    return studies.find(study), {key: value for each in values for key, value in each.items()}


def write_config(study: "Study") -> str:
    """The file that repeats a study; parameters without a value are left out."""
    values = {key: plain(value) for key, value in study.values().items() if value is not None}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join([f'study = "{study.name}"', "", "[parameters]", *lines, ""])
