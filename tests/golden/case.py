"""One observation: a command line, and the circumstances that it meets."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tests.fakes.ollama_script import Step

Steps: TypeAlias = tuple[Step, ...]

KEPT = Path(__file__).parent / "kept"


def prepare_nothing(home: Path) -> AbstractContextManager[object]:
    """Let the home be as it is."""
    return nullcontext(home)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is run and under which name its result is kept.

    `{chunk}` in the line stands for the id of a passage, `{fault}` for that of a fault in the log,
    `{cursor}` for the cursor of the search `restore -n 1`. `home` is the state that is found,
    `meets` what is done to it meanwhile.
    """

    command: str
    name: str
    line: tuple[str, ...]
    home: str = "words"
    stdin: bytes = b""
    says: Steps = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    meets: Callable[[Path], AbstractContextManager[object]] = prepare_nothing
    opener: Callable[..., Any] | None = None

    def __str__(self) -> str:
        return f"{self.command}: {self.name}"

    @property
    def path(self) -> Path:
        """Where the result is kept."""
        return KEPT / self.command.replace(" ", "_") / f"{self.name}.json"

    @property
    def words(self) -> tuple[str, ...]:
        """The whole command line."""
        framed = {"--stream", "--bulk"} & {*self.line}
        return self.line if framed else (*self.line, "--json")
