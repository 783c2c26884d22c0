"""What a model server can say instead of an answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.fakes.ollama_failures import FAILURES, GARBAGE_LINE, HUGE_LINE, STRANGE
from tests.fakes.ollama_script import Fail, Raw, Say, Step
from tests.fakes.play import Pause
from tests.faults.world import Fault, Injection

COMMANDS = ("ask", "streamed ask", "ask in a session")
"""The commands that speak to a server."""

_SLOW_S = 0.6
_QUICK = {"KEBAB_MODELS_LLM_FIRST_TOKEN_S": "0.15"}
_BRIEF = {"KEBAB_MODELS_LLM_TOTAL_S": "0.2"}


@dataclass(frozen=True, slots=True)
class Script:
    """One conversation that goes wrong, with limits that make it short."""

    name: str
    says: tuple[Step, ...]
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def injection(self) -> Injection:
        """Return it as what befell a command."""
        return Injection("server", 0, Fault(self.name, _refuse_use))


def _refuse_use() -> None:
    """Stand for what the server itself does."""


def list_scripts() -> Iterator[Script]:
    """Yield every failure that a server is known for, at the first and at the second call."""
    for name in (*FAILURES, *STRANGE):
        for generation in ("old", "new"):
            yield Script(f"{name} ({generation})", (Fail(name, generation),) * 3)
    for name, step in _list_broken_answers().items():
        yield Script(name, (step, step, step))
    yield Script("no first token", (Say("late", held_s=_SLOW_S),) * 2, _QUICK)
    yield Script("no next token", (Say("so", Pause(_SLOW_S), "late"),) * 2, _QUICK)
    yield Script("no end", (Say("so", Pause(_SLOW_S), "late"),) * 2, _BRIEF)


def _list_broken_answers() -> dict[str, Step]:
    """Return answers that break off or go astray."""
    words = ("The dough", " rests", " for 12 hours [1].")
    return {
        "cut at once": Say(end="cut"),
        "cut": Say(*words, end="cut"),
        "reset": Say(*words, end="reset"),
        "silent": Say(*words, end="silent"),
        "error amid": Say(*words, error="the runner died"),
        "nothing said": Say(),
        "only thoughts": Say(thinking=("so", "then")),
        "garbage amid": Say("The dough", Raw(GARBAGE_LINE), "rests [1]."),
        "huge line amid": Say("The dough", Raw(HUGE_LINE), "rests [1]."),
        "no UTF-8 amid": Say("The dough", Raw(b'{"message":{"content":"\xff"}}\n'), "rests [1]."),
        "an array amid": Say("The dough", Raw(b"[]\n"), "rests [1]."),
        "length": Say(*words, done_reason="length"),
        "no marker": Say("The dough rests."),
        "forged marker": Say("The dough rests for 12 hours [9]."),
        "control characters": Say("The \x1b[31mdough\x07 rests [1]."),
        "loaded only": Say(done_reason="load"),
        "dripping": Say(*words, drip=3, drip_s=0.0),
    }
