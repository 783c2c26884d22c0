"""An index of a few notes, kept as a copy, and what a person sees of it through the commands.

The embedding model has random weights, so that the index is ready in a second.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from kebab.embed.registry import MODELS
from tests.fakes import tiny_model
from tests.fakes.console import CommandResult, enter_environment, environment, run

_SECTIONS = 60
_QUERIES = ("dough oven", "빵 오븐", "cat mat", "section30 harvest", "soup", "parse_flags")
_MODES = ("lexical", "vector", "hybrid")
_SHORT = [("dough oven", "hybrid"), ("section30 harvest", "lexical"), ("cat mat", "vector")]
_NOTES = {
    "bread.md": """---
title: Bread
tags: [food, slow]
aliases: [Loaf]
author: Ada
---
# Bread

The dough rests for 12 hours. See [soup](food/soup.md).

## Oven

The oven is heated to 250 degrees before the bread goes in.
""",
    "park.txt": "the dog runs in the park\n\nthe cat sleeps on the mat\n",
    "빵.md": "# 빵\n\n반죽은 열두 시간 동안 쉰다. 오븐은 250도로 데운다.\n",
    "food/soup.md": "# Soup\n\nThe soup simmers for 40 minutes with the red apple.\n",
    "code.py": "def parse_flags(line):\n    return line.split()\n",
}


class Stage:
    """One home with an index; `restore` brings back the state after the ingest."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.notes = self.home / "notes"
        self.models = self.home / "cache" / "kebab" / "models"
        self.data = self.home / "data" / "kebab"
        self.database = self.data / "kebab.sqlite"
        self.reviews = self.data / "reviews.sqlite"
        self.lance = self.data / "lance"
        self._kept = folder / "kept"
        self.before: dict[str, Any] = {}
        self._searches: list[tuple[str, str]] = []

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Let this process work in the home."""
        self.home.mkdir(parents=True)
        own = {
            "KEBAB_DAEMON_AUTO": "false",
            "KEBAB_MODELS_LLM_PROVIDER": "extractive",
            "KEBAB_MODELS_EMBEDDING_THREADS": "1",
        }
        with enter_environment({**environment(self.home), **own}, self.home):
            yield

    def build(self, *, short: bool = False) -> None:
        """Write the notes and the index, with a session and a review; `short` asks less of it."""
        self._searches = (
            _SHORT if short else [(query, mode) for query in _QUERIES for mode in _MODES]
        )
        tiny_model.install_model(MODELS[0], self.models)
        for name, text in _NOTES.items():
            path = self.notes / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        sections = (
            f"## Section{number}\n\nThe section{number} harvest of the blue sky holds "
            f"{' '.join(f'word{number}x{at}' for at in range(120))}.\n"
            for number in range(_SECTIONS)
        )
        (self.notes / "long.md").write_text("# Long\n\n" + "\n".join(sections), encoding="utf-8")
        self.call("ingest", str(self.notes))
        self.call(
            "ingest", "--stdin", "--title", "Tea", stdin=b"The tea steeps for five minutes.\n"
        )
        self.call("ask", "--session", "talk", "How long does the dough rest?", ok=(0, 1))
        self.call("review", str(self.notes / "bread.md"), "--no-llm", ok=(0, 1))
        for path in (self.database, self.reviews):
            self.execute("SELECT 1", database=path)
        shutil.copytree(self.home, self._kept, symlinks=True)
        self.before = self.look()

    def restore(self) -> None:
        """Bring back the home as it was built, times included: they decide what is read again."""
        for path in (self.home / name for name in os.listdir(self.home)):  # noqa: PTH208 - names
            shutil.rmtree(path)
        shutil.copytree(self._kept, self.home, symlinks=True, dirs_exist_ok=True)

    def call(self, *line: str, ok: tuple[int, ...] = (0,), stdin: bytes = b"") -> dict[str, Any]:
        """Return the reply of a command line.

        Raises:
            AssertionError: It ends with another exit status.
        """
        result = run(*line, "--json", stdin=stdin)
        assert result.status in ok, (line, result.status, result.err[-800:])
        return result.reply

    def try_call(self, *line: str) -> CommandResult:
        """Return the result of a command line, whatever it is."""
        return run(*line, "--json")

    def look(self) -> dict[str, Any]:
        """Return what a person can see of the index, without times and scores of chance."""
        seen: dict[str, Any] = {}
        for query, mode in self._searches:
            reply = self.call("search", query, "--mode", mode, "--limit", "100", ok=(0, 1))
            # Hits of one score are in the order of their keys, which are new in new rows.
            seen[f"{mode}: {query}"] = sorted(map(_show_hit, reply["hits"]), key=str)
        reply = self.call("list")
        dates = ("indexed_at",)
        seen["documents"] = [
            {name: value for name, value in one.items() if name not in dates}
            for one in reply["documents"]
        ]
        return seen

    def look_at_session(self) -> int:
        """Return how many turns the session has."""
        result = run("session", "show", "talk", "--json")
        return len(json.loads(result.out)["turns"]) if result.status == 0 else 0

    def execute(self, sql: str, *values: Any, database: Path | None = None) -> list[Any]:
        """Change a database behind the back of kebab."""
        with closing(apsw.Connection(str(database or self.database))) as opened:
            rows: list[Any] = opened.execute(sql, values).fetchall()
            opened.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return rows

    def find_pages(self, name: str, kind: str, database: Path | None = None) -> list[int]:
        """Return the pages of a table or an index: `leaf`, `internal` or `overflow` ones."""
        sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno"
        return [page for (page,) in self.execute(sql, name, kind, database=database)]

    def overwrite(self, path: Path, start: int, data: bytes) -> None:
        """Write over some bytes of a file."""
        with path.open("r+b") as file:
            file.seek(start)
            file.write(data)


_SHOWN = (
    *("score", "confidence", "doc_id", "doc_path", "title", "heading_path", "chunk_id", "snippet"),
    *("highlights", "citation", "freshness", "tags", "lang", "media"),
)


def _show_hit(hit: dict[str, Any]) -> dict[str, Any]:
    return {name: hit[name] for name in _SHOWN} | {"score": round(hit["score"], 3)}
