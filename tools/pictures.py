"""Draws the pictures of the README from what kebab answers about the samples.

The answers are real; only paths and durations, which differ between machines, are replaced.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import msgspec

from kebab.app.facade import Kebab
from kebab.cli.render.answer import render_answer
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_doctor
from kebab.cli.render.hits import Paging, render_hits
from kebab.config.settings import Llm, Models, Settings
from kebab.wire.ask import AskRequest
from kebab.wire.health import DoctorRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.record import Reply
from kebab.wire.search import SearchRequest
from tools.terminal_picture import draw_terminal

R = TypeVar("R", bound=Reply)

FOLDER = Path("docs/pictures")
SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "notes"
_COLUMNS = 80
_HOME = "/home/ada"
_CLOSED = "http://127.0.0.1:9"
"""No server listens on this port, so every machine gives the same answer."""

_MACHINE = (
    (re.compile(r"[\d,]+ MB free"), "212,480 MB free"),
    (re.compile(r"may open [\d,]+ files"), "may open 20,000 files"),
    (re.compile(r'"latency_ms":[\d.]+'), '"latency_ms":180.0'),
    (re.compile(re.escape(_CLOSED)), "http://127.0.0.1:11434"),
)
"""What differs between machines, and what the pictures show instead."""


def build_pictures() -> dict[Path, str]:
    """Return the pictures by their paths in a checkout."""
    canvas = Canvas(width=_COLUMNS, color=True)
    with _open_samples() as (kebab, home):

        def draw(command: str, reply: R, render: Callable[[R, Canvas], Iterable[str]]) -> str:
            return draw_terminal(command, render(_normalize(reply, home), canvas))

        search = SearchRequest(query="restore a backup", mode="lexical", limit=3)
        question = AskRequest(
            question="how do I keep a starter alive", extractive=True, mode="lexical"
        )
        paging = Paging(repeat=lambda *more, **_: " ".join([_SEARCH, *more]))
        return {
            FOLDER / "search.svg": draw(
                _SEARCH,
                kebab.run(search),
                lambda reply, sheet: render_hits(reply, sheet, paging),
            ),
            FOLDER / "answer.svg": draw(
                f"kebab ask --extractive '{question.question}'", kebab.run(question), render_answer
            ),
            FOLDER / "doctor.svg": draw("kebab doctor", kebab.run(DoctorRequest()), render_doctor),
        }


_SEARCH = "kebab search 'restore a backup'"


@contextmanager
def _open_samples() -> Iterator[tuple[Kebab, Path]]:
    """Yield a knowledge base of the samples in a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copytree(SAMPLES, home / "notes")
        # Doctor names programs of this machine only.
        (home / "bin").mkdir()
        (home / "bin" / "ollama").touch(0o755)
        path = f"{home / 'bin'}:{os.environ['PATH']}"
        places = {f"XDG_{name}_HOME": str(home / place) for name, place in _PLACES.items()}
        foreign = {name for name in os.environ if name.startswith("KEBAB_")}
        kept = {name: value for name, value in os.environ.items() if name not in foreign}
        settings = Settings(offline=True, models=Models(llm=Llm(endpoint=_CLOSED)))
        config = home / ".config" / "kebab" / "config.toml"
        with (
            patch.dict(os.environ, {**kept, **places, "HOME": folder, "PATH": path}, clear=True),
            Kebab(settings, config_path=config) as kebab,
        ):
            kebab.run(IngestRequest(paths=[str(home / "notes")]))
            yield kebab, home


_PLACES = {
    "CONFIG": ".config",
    "DATA": ".local/share",
    "CACHE": ".cache",
    "STATE": ".local/state",
}


def _normalize(reply: R, home: Path) -> R:
    """Return a reply without what differs between machines."""
    text = msgspec.json.encode(reply).decode().replace(str(home), _HOME)
    for pattern, replacement in _MACHINE:
        text = pattern.sub(replacement, text)
    return msgspec.json.decode(text, type=type(reply))
