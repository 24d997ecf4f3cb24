"""What a study is: parameters in, findings out."""

import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, get_type_hints

from naiad.errors import InputError
from naiad.interrupts import listening
from naiad.studies.matches import did_you_mean
from naiad.studies.parameters import Block, Parameter
from naiad.studies.progress import Progress

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from naiad.studies.live import LivePage


class Table(NamedTuple):
    """A table for the report: texts, a column for each head."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Findings:
    """What a study found.

    `results` are the numbers to report, `dataset` is a function that gives the trajectory behind them, `figures` maps a
    name to a function that draws the figure (the first tells most: the report opens with it), `tables` one to a
    function that gives a table (all called only when files are written), `notes` says in plain text how to read them,
    `units` has the units of results by name.
    """

    results: Mapping[str, Any]
    dataset: "Callable[[], xarray.Dataset] | None" = None
    figures: "Mapping[str, Callable[[], Figure]]" = dataclasses.field(default_factory=dict)
    notes: str = ""
    tables: Mapping[str, Callable[[], Table]] = dataclasses.field(default_factory=dict)
    units: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def _repr_html_(self) -> str:
        from naiad.studies import report

        return report.card(self)


class Study(Block, ABC):
    """An experiment with named parameters. A subclass becomes a frozen dataclass that checks its values when made.

    class RigidBody(Study, name="rigid-body"):
        '''One line: what it is.

        Then what to expect.
        '''

        paper = "Author, year, section"
        dt: float = parameter(0.01, unit="s", above=0.0, help="time step")

        def run(self, progress): ...

    The docstring's first line is the summary. `live` says what its live page shows, if it has one. `validate` checks
    parameters against each other. Parameters that several studies share are declared once, in a `Block` that each of
    them inherits besides.
    """

    name: ClassVar[str]
    paper: ClassVar[str] = ""
    ensemble: ClassVar[bool] = False
    """Whether it runs an ensemble, by `simulate_many`, which may go to GPUs."""
    parameters: ClassVar[Mapping[str, Parameter]]

    def __init_subclass__(cls, *, name: str, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        cls.name = name
        # an interrupt ends a study: of a part of a run there are no findings
        cls.run = listening(at_once=True)(cls.run)
        made: Any = cls
        hints, own = get_type_hints(cls, include_extras=True), [*inspect.get_annotations(cls)]
        fields = sorted(  # its own come first, in their order
            dataclasses.fields(made), key=lambda field: own.index(field.name) if field.name in own else len(own)
        )
        cls.parameters = {field.name: Parameter.of(field, hints[field.name]) for field in fields}

    def __init__(self, **values: Any):
        """Take values by name, as Python values or as texts; those left out have their defaults."""
        for key in values:
            if key not in self.parameters:
                raise InputError(self.unknown(key))
        for key, each in self.parameters.items():
            object.__setattr__(self, key, each.read(values[key]) if key in values else each.default)
        self.validate()

    @classmethod
    def parse(cls, assignments: Iterable[str]) -> Self:
        """The study with the parameters of texts such as `dt=0.01`."""
        return cls(**cls.assigned(assignments))

    @classmethod
    def assigned(cls, assignments: Iterable[str]) -> dict[str, str]:
        """The values of texts such as `dt=0.01`, by name."""
        values: dict[str, str] = {}
        for assignment in assignments:
            key, equals, text = (part.strip() for part in assignment.partition("="))
            if not key or not equals:
                raise InputError(f"-p {assignment}: expected NAME=VALUE; {cls._how_to_list()}")
            if key in values:
                raise InputError(f"{key} is given twice, {key}={values[key]} and {key}={text}; give it once")
            values[key] = text
        return values

    @classmethod
    def summary(cls) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]

    @classmethod
    def description(cls) -> str:
        """The docstring after its first line: what to expect."""
        return (inspect.getdoc(cls) or "").partition("\n")[2].strip()

    def values(self) -> dict[str, Any]:
        """All parameters and their values."""
        return {key: getattr(self, key) for key in self.parameters}

    def changed(self) -> dict[str, str]:
        """The parameters that differ from their defaults, as texts that `parse` takes."""
        texts = {
            key: (each.write(getattr(self, key)), each.write(each.default)) for key, each in self.parameters.items()
        }
        return {key: text for key, (text, default) in texts.items() if text != default}

    def settings(self) -> str:
        """The parameters that differ from their defaults, with their units, for a reader."""
        units = {key: each.options.unit for key, each in self.parameters.items()}
        return ", ".join(f"{key} = {text} {units[key]}".rstrip() for key, text in self.changed().items())

    def validate(self) -> None:
        """Raise InputError if the parameters do not fit together."""

    @abstractmethod
    def run(self, progress: Progress) -> Findings:
        """Do the experiment."""

    def live(self) -> "LivePage":
        """What its live page shows, if it has one."""
        from naiad.studies import LIVE

        raise InputError(f"{self.name} has no live page; those that have one are {', '.join(LIVE)}")

    @classmethod
    def unknown(cls, key: str) -> str:
        """What to say to the name of a parameter that there is not."""
        return f"{cls.name} has no parameter {key}; {did_you_mean(key, cls.parameters)}{cls._how_to_list()}"

    @classmethod
    def _how_to_list(cls) -> str:
        return f"`naiad show {cls.name}` lists them"
