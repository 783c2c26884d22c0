"""The steps of a session: what a person does to files, and the commands after that."""

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kebab.config.load import load_settings
from kebab.config.settings import resolve_paths
from kebab.embed.registry import MODELS
from kebab.server.guard import load_token
from tests.fakes.console import run
from tests.fakes.tiny_model import WORDS

TALK = "talk"
TEXT, TEXT_BYTES = "Tea", b"The cat eats bread.\n"
REMOVED = ("notes/f0/0.md",)
"""The documents that the step `rm` removes from the index; their files stay."""
QUESTIONS = ("where does the cat sleep?", "what does the dog do in the park?")
_OWN_SETTINGS = "# mine\n[search]\nlimit = 7\n"
_WORDS = [word for word in WORDS if word.isalpha()]
_SMALL_RUNS = 10
"""Runs with one small file each: so many fragments of vectors are compacted."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a person does to files, and the commands after that."""

    name: str
    edit: Callable[[Path], None]
    lines: tuple[tuple[str, ...], ...] = ()
    stdin: bytes = b""
    statuses: tuple[int, ...] = (0,)
    repeats: int = 1


def write_note(home: Path, name: str, seed: str) -> None:
    """Write a note with words that the model knows."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    parts = [
        f"## Part {number}\n\n{' '.join(chance.choices(_WORDS, k=12)).capitalize()}.\n"
        for number in range(3)
    ]
    path = home / "notes" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# Note {seed}\n\n" + "\n".join(parts))


def _write_first(home: Path) -> None:
    for number in range(14):
        write_note(home, f"f{number % 3}/{number}.md", str(number))


def _edit(home: Path) -> None:
    write_note(home, "f0/0.md", "other 0")
    write_note(home, "f1/1.md", "other 1")
    write_note(home, "f1/new.md", "new")


def _move(home: Path) -> None:
    notes = home / "notes"
    (notes / "f0/3.md").rename(notes / "f0/moved.md")
    (notes / "f1").rename(notes / "renamed")


def _delete(home: Path) -> None:
    for name in ("f2/2.md", "f2/5.md", "f2/8.md", "f0/6.md", "f0/9.md"):
        (home / "notes" / name).unlink()


def _add_small(home: Path) -> None:
    number = len(list((home / "notes").rglob("*.md")))
    write_note(home, f"small/{number}.md", f"small {number}")


def age_copies(home: Path) -> None:
    """Let copies of published bases look at the store again, as a minute later."""
    for path in (home / "cache").rglob("state.json"):
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "tried_at": 0}))


def _change_published(home: Path) -> None:
    _add_small(home)
    write_note(home, "f0/3.md", str(len(list((home / "notes").rglob("*.md")))))
    age_copies(home)


def _write_mistakes(home: Path) -> None:
    with (home / "notes" / "mistakes.md").open("w", encoding="utf-8") as file:
        file.write("# Mistakes\n\nSee [the cat](0.md) and [the dog](gone.md).\n")


def _write_settings(home: Path) -> None:
    config = home / "config" / "kebab"
    config.mkdir(parents=True, exist_ok=True)
    with (config / "config.toml").open("w", encoding="utf-8") as file:
        file.write(_OWN_SETTINGS)
    (home / ".cursor").mkdir()
    with (home / ".cursor" / "mcp.json").open("w", encoding="utf-8") as file:
        file.write('{\n  "mcpServers": {"other": {"command": "other"}}\n}\n')


def _change_nothing(_: Path) -> None:
    pass


def _make_archive_folder(home: Path) -> None:
    (home / "archive").mkdir(exist_ok=True)


PUBLISHED, PUBLISH = "file://HOME/base", ("publish", "HOME/base")
TEAM, ARCHIVE = "team", "HOME/archive/base.zip"
_INGEST = ("ingest", "NOTES")
STEPS: tuple[Step, ...] = (
    Step("first", _write_first, (_INGEST,)),
    Step("edit", _edit, (_INGEST,)),
    Step("move", _move, (_INGEST,)),
    Step("delete", _delete, (_INGEST,)),
    Step("text", _change_nothing, (("ingest", "--stdin", "--title", TEXT),), TEXT_BYTES),
    Step("compact", _add_small, (_INGEST,), repeats=_SMALL_RUNS),
    Step("rm", _change_nothing, (("rm", "f0/0.md"), _INGEST)),
    Step(
        "ask",
        _change_nothing,
        tuple(("ask", one, "--session", TALK, "--extractive") for one in QUESTIONS),
        statuses=(0, 1),
    ),
    Step("model", _change_nothing, (("model", "use", MODELS[0].name),)),
    Step(
        "review",
        _write_mistakes,
        (("review", "NOTES/mistakes.md", "NOTES/f0/0.md", "--no-llm"),),
        statuses=(1,),
    ),
    Step(
        "apply",
        _change_nothing,
        (("review", "NOTES/mistakes.md", "--no-llm", "--apply", "--unsafe", "--yes"), _INGEST),
        statuses=(0, 1),
    ),
    Step(
        "settings",
        _write_settings,
        (
            ("init", "--force", "--workspace", "NOTES"),
            ("install", "cursor", "--yes"),
            ("search", "cat"),
        ),
    ),
    Step(
        "publish",
        _change_published,
        (_INGEST, PUBLISH, ("--data-dir", PUBLISHED, "search", "cat")),
        repeats=2,
    ),
    Step(
        "pull",
        _change_published,
        (
            *(_INGEST, PUBLISH, ("source", "add", "HOME/base", "--name", TEAM)),
            ("search", "cat", "--base", TEAM),
        ),
        repeats=2,
    ),
    Step("export", _make_archive_folder, (("export", ARCHIVE, "--force"),)),
    Step("import", _change_published, (_INGEST, ("import", ARCHIVE, "--yes"), _INGEST)),
    Step("reset", _change_nothing, (("reset", "--yes"), _INGEST)),
)


def run_lines(home: Path, step: Step) -> None:
    """Run the commands of a step, in the environment of the home.

    Raises:
        RuntimeError: A command ends with another status.
    """
    for line in step.lines:
        words = [word.replace("NOTES", "HOME/notes").replace("HOME", str(home)) for word in line]
        ended = run(*words, stdin=step.stdin)
        if ended.status not in step.statuses:
            raise RuntimeError(f"{words}: {ended}")
    if step.name == "settings":
        load_token(resolve_paths(load_settings(environ=os.environ)).state)
