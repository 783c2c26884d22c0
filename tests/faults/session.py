"""The session: every command, the home that it runs in, and what the model server says to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.examples import list_example_lines
from tests.fakes.ollama_script import Say, Step

QUESTION = "how long does the dough rest?"
ANSWER = Say("The dough rests", " for 12 hours", " [1].")
TRANSLATION = Say(
    '{"items": [{"id": 1, "text": "빵"}, {"id": 2, "text": "반죽은 12시간 쉰다."}, ',
    '{"id": 3, "text": "오븐"}, {"id": 4, "text": "오븐을 250도로 데운다."}]}',
)
TALK = "baking"


@dataclass(frozen=True, slots=True)
class Command:
    """A command line; `home` names the state that it finds.

    With `writes` it may leave another library than it found.
    """

    name: str
    arguments: tuple[str, ...]
    home: str = "ready"
    stdin: bytes = b""
    writes: bool = False
    status: int = 0
    """How it ends when nothing befalls it."""
    lines: bool = False
    """Whether stdout is a stream of lines."""
    says: tuple[Step, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The command's name on the wire."""
        words = [one for one in self.arguments if not one.startswith("-")]
        group = words[0] in ("inspect", "model", "session", "source")
        group = group or words[1:2] in (["chunk"], ["doc"], ["span"])
        return " ".join(words[: 2 if group else 1])

    @property
    def line(self) -> tuple[str, ...]:
        """The whole command line."""
        return self.arguments if "--stream" in self.arguments else (*self.arguments, "--json")


def list_states(notes: Path) -> dict[str, Sequence[Command]]:
    """Return the states of a home, each with what leads to it from the one before."""
    init = Command("init", ("init", "--workspace", str(notes)))
    ingest = Command("ingest", ("ingest", str(notes)))
    text = Command("text", ("ingest", "--stdin", "--title", "Tea"), stdin=b"Tea brews 3 minutes.\n")
    ask = Command("ask", ("ask", QUESTION, "--session", TALK, "--extractive"))
    export = Command("export", ("export", str(notes.with_name(ARCHIVE)), "--force"))
    return {"empty": (), "plain": (init, ingest), "ready": (text, ask, export)}


ARCHIVE = "base.zip"
"""The name of an archive of the state `ready`, beside the notes."""

ELSEWHERE = (
    *("dupes", "errors", "explain", "model pull", "model use", "publish", "related"),
    "source add",
)
"""Commands that the session leaves to others with the same stores and models; those of published
bases meet the faults of their stores in the tests of `kebab.store.published`."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the commands name: the folder, a document of it, a passage, a text without a file."""

    notes: Path
    document: str
    chunk: str
    text: str


def list_commands(known: Names) -> list[Command]:
    """Return the session."""
    commands = [
        *_list_writing_commands(known),
        *_list_reading_commands(known),
        *_list_search_commands(),
        *_list_ask_commands(),
    ]
    taken = {one.label for one in commands} | set(ELSEWHERE)
    examples = list_example_lines().items()
    return [*commands, *(Command(name, line) for name, line in examples if name not in taken)]


def _list_writing_commands(known: Names) -> list[Command]:
    root = str(known.notes)
    text = b"Coffee brews 4 minutes.\n"
    return [
        Command("init", ("init", "--workspace", root), "empty", writes=True),
        Command("init again", ("init", "--force"), writes=True),
        Command("first ingest", ("ingest", root), "empty", writes=True),
        Command("ingest of nothing new", ("ingest", root), writes=True),
        Command("ingest of edits", ("ingest", root), "edited", writes=True),
        Command("ingest of moves", ("ingest", root), "moved", writes=True),
        Command("dry run", ("ingest", root, "--dry-run"), "edited"),
        Command(
            "ingest of a text", ("ingest", "--stdin", "--title", "Cup"), stdin=text, writes=True
        ),
        Command("rm", ("rm", f"{root}/bread.md"), writes=True),
        Command("rm of a text", ("rm", known.text), writes=True),
        Command("source rm", ("source", "rm", root, "--yes"), writes=True),
        Command("session rm", ("session", "rm", TALK), writes=True),
        Command("export", ("export", str(known.notes.with_name("other.zip")), "--force")),
        Command(
            "import",
            ("import", str(known.notes.with_name(ARCHIVE)), "--yes"),
            writes=True,
        ),
        Command("reset", ("reset", "--yes"), "plain", writes=True),
    ]


def _list_reading_commands(known: Names) -> list[Command]:
    document, chunk, file = known.document, known.chunk, str(known.notes / "bread.md")
    return [
        Command("list", ("list",)),
        Command("inspect doc", ("inspect", "doc", document)),
        Command("inspect chunk", ("inspect", "chunk", chunk)),
        Command("outline", ("outline", document)),
        Command("grep", ("grep", "dough")),
        Command("fetch", ("fetch", f"{document}:1", chunk)),
        Command("source list", ("source", "list")),
        Command("session list", ("session", "list")),
        Command("session show", ("session", "show", TALK)),
        Command("doctor", ("doctor",)),
        Command("schema", ("schema",)),
        Command("model list", ("model", "list")),
        Command("review", ("review", file, "--no-llm"), writes=True),
        Command(
            "streamed review",
            ("review", file, "--no-llm", "--stream"),
            writes=True,
            lines=True,
        ),
        Command("translate", ("translate", file, "--to", "ko"), writes=True, says=(TRANSLATION,)),
    ]


def _list_search_commands() -> list[Command]:
    lines = b'"the dough rests for 12 hours"\n{"query": "cat", "mode": "vector"}\n{"query": 5}\n'
    return [
        Command("lexical search", ("search", "dough", "--mode", "lexical")),
        Command("hybrid search", ("search", "how long does dough rest")),
        Command("vector search", ("search", "dog park", "--mode", "vector"), status=1),
        Command("filtered search", ("search", "the soup simmers", "--path", "food/**")),
        Command("bulk search", ("search", "--bulk"), stdin=lines, lines=True),
        Command("streamed search", ("search", "how long does dough rest", "--stream"), lines=True),
        Command(
            "search without sidecar", ("search", "dog park", "--mode", "vector"), "bare", status=1
        ),
        Command("search of nothing", ("search", "dough"), "empty", status=3),
        Command("search of edits", ("search", "how long does dough rest"), "edited"),
    ]


def _list_ask_commands() -> list[Command]:
    talk = ("ask", "and the oven?", "--session", TALK)
    return [
        Command("extractive ask", ("ask", QUESTION, "--extractive")),
        Command("ask", ("ask", QUESTION), says=(ANSWER,)),
        Command("streamed ask", ("ask", QUESTION, "--stream"), says=(ANSWER,), lines=True),
        Command("ask in a session", talk, says=(ANSWER, ANSWER), writes=True),
        Command(
            "ask of nobody", ("ask", QUESTION), settings={"OLLAMA_HOST": "127.0.0.1:9"}, status=2
        ),
    ]
