"""Declares what a model writes about a picture, and the port of ingest and parsers to the model."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from kebab.errors.signal import Signal

PictureTask: TypeAlias = Literal["ocr", "caption"]

UNREAD_PICTURE = "a picture is not searched, the next ingest asks again"
"""What the warning about a picture begins with that no model could read."""


class PictureAnswer(NamedTuple):
    """What a model wrote about a page of a picture, empty without text; or why it wrote nothing.

    `is_cut` means that it reached the limit of its answer.
    """

    text: str = ""
    is_cut: bool = False
    failure: Signal | None = None


class PictureReader(Protocol):
    """Reads pictures through a model; it is picklable and hashable.

    `name` is that of the model, `tasks` are what it is asked for, and `deadline_s` is the time
    limit of one answer in seconds; 0 means none.
    """

    name: str
    tasks: tuple[PictureTask, ...]
    deadline_s: float

    def __hash__(self) -> int: ...

    @property
    def recipe(self) -> str:
        """What decides the text of a document besides the parser."""

    def read(self, task: PictureTask, data: bytes, path: str) -> list[PictureAnswer]:
        """Return what the model writes about each page of a picture; a caption is of the first.

        Raises:
            ParseFailed: It cannot be read as a picture.
            DependencyMissing: A library is not installed.
        """


_ORIGINS: dict[PictureTask, str] = {"ocr": "text read by", "caption": "caption by"}


def format_origin(task: PictureTask, model: str) -> str:
    """Return the words that mark the text of a model, because it may be wrong."""
    return f"{_ORIGINS[task]} {model}"


def list_failures(answers: Iterable[PictureAnswer]) -> tuple[Signal, ...]:
    """Return why a model wrote nothing, each reason once."""
    faults = (answer.failure for answer in answers if answer.failure is not None)
    return tuple({fault.format_message(): fault for fault in faults}.values())


def describe_answers(answers: Sequence[PictureAnswer]) -> list[str]:
    """Return the warnings about what a model did not write."""
    faults = [fault.format_message() for fault in list_failures(answers)]
    cut = any(answer.is_cut for answer in answers)
    return [
        *(f"{UNREAD_PICTURE}: {fault}" for fault in faults),
        *(["text of a picture was cut: the answer of the model was too long"] if cut else []),
    ]
