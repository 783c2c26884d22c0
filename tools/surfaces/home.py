"""Contains a home with notes, an index, a session and a log, in which surfaces are tried."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tools.surfaces.clients import Runner
from tools.surfaces.command_lines import CommandLine

STATES = ("config", "data", "state")
"""The folders that commands change."""

CANARY = "xylophonecanary"
"""A word of files that are beside the notes and not indexed; no answer may hold it."""
_NO_SERVER = "127.0.0.1:9"
_QUESTION = "how do I restore a backup"


def build_environment(home: Path, models: Path | None = None) -> dict[str, str]:
    """Return the variables of a home that needs no network; `models` has embedding models."""
    places = ("CONFIG", "DATA", "CACHE", "STATE")
    model = {"KEBAB_MODELS_EMBEDDING_MODEL": "all-minilm-l6-v2"} if models else {}
    return {
        **{f"XDG_{place}_HOME": str(home / place.lower()) for place in places},
        **model,
        "HOME": str(home),
        "KEBAB_DATA_DIR": str(home / "data"),
        "KEBAB_MODELS_DIR": str(models or home / "models"),
        "KEBAB_OFFLINE": "true",
        "OLLAMA_HOST": _NO_SERVER,
        "PATH": os.environ.get("PATH", os.defpath),
    }


class Home:
    """A home whose state can be restored.

    Args:
        folder: The folder of the home; it may exist.
        notes: The notes, which are copied.
        run: Runs a command line in this home.
    """

    def __init__(self, folder: Path, notes: Path, run: Runner) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.words: dict[str, str] = {"NOTES": str(self.notes), "HOME": str(folder)}
        self._run = run
        self._kept = folder.with_name(f"{folder.name}-kept")
        shutil.copytree(notes, self.notes, ignore=shutil.ignore_patterns("leads-out*"))
        (folder / "run").mkdir(mode=0o700)
        (folder / "cases.bin").write_bytes(bytes(range(256)))
        self.private = folder / "private"
        self.private.mkdir()
        for name in ("secret.md", "notes.txt"):
            (self.private / name).write_text(f"# {CANARY}\n\nTeh restore of {CANARY}.\n")
        (self.notes / "leads-out.md").symlink_to(self.private / "secret.md")
        (self.notes / "leads-out").symlink_to(self.private)

    def prepare(self) -> None:
        """Index the notes, ask in a session, fail once, and keep this state.

        Raises:
            RuntimeError: A command fails.
        """
        self._call("init")
        self._call("ingest", str(self.notes))
        self._call("ask", _QUESTION, "--extractive", "--session", "talk")
        failed = self._call("ingest", str(self.folder / "nowhere"), status=2)
        first = self._call("search", "restore", "--limit", "1")
        hit = json.loads(first)["hits"][0]
        self.words |= {
            "CHUNK": hit["chunk_id"],
            "CURSOR": json.loads(first)["next_cursor"],
            "DOC_ID": hit["doc_id"],
            "ERROR_ID": json.loads(failed.splitlines()[-1])["correlation_id"],
        }
        for name in STATES:
            shutil.copytree(self.folder / name, self._kept / name)

    def restore(self) -> None:
        """Put the state back that `prepare` kept."""
        for name in STATES:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(self._kept / name, self.folder / name)

    def list_words(self) -> Mapping[str, list[str]]:
        """Return texts that mean something here, by the field of a request."""
        files = [path for path in sorted(self.notes.rglob("*")) if path.is_file()]
        paths = [str(path.relative_to(self.notes)) for path in files]
        private = str(self.private)
        outside = [
            private,
            f"{private}/secret.md",
            f"{private}/*.md",
            f"{self.notes}/../private/secret.md",
            f"{self.notes}/leads-out/secret.md",
            "/etc/passwd",
            "~root/x",
        ]
        refs = [*paths, *(f"{path}#L2-L4" for path in paths), self.words["CHUNK"]]
        queries = [
            "restore",
            _QUESTION,
            "백업",
            "sourdough starter",
            "restic check",
            "lang:ko 김치",
        ]
        return {
            "query": queries,
            "queries": queries,
            "question": queries,
            "pattern": ["restore", "re(store|sult)", "[Bb]ackup", "^#", "a("],
            "name": [*refs, "talk", "work", "timeout", self.words["DOC_ID"], *outside],
            "names": [*refs, "talk", *outside],
            "refs": [*refs, *outside],
            "path": [*paths, *outside],
            "folder": [str(self.notes), *outside],
            "paths": [*paths, str(self.notes), str(self.folder / "cases.bin"), *outside],
            "cursor": [self.words["CURSOR"]],
            "code": ["timeout", "not_indexed"],
            "tag": ["ops", "work"],
            "lang": ["ko", "en"],
            "media": ["markdown", "text/plain"],
            "since": ["7d", "2001-01-01"],
            "until": ["2001-01-01", "2100-01-01T00:00:00Z"],
            "path_glob": ["work/**", "*.md", *outside],
            "doc_id": [self.words["DOC_ID"], *paths],
            "lines": ["a.md:3:restore the backup", "nothing", "백업 복원"],
        }

    def _call(self, *words: str, status: int = 0) -> str:
        done = self._run(CommandLine(("--json", *words)))
        if done.status != status:
            raise RuntimeError(f"{words}: {done}")
        return (done.err if status else done.out).decode()
