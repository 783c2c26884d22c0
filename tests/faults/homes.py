"""The homes that commands run in: one place on disk, and a copy of what lay there in each state.

Ids come from absolute paths, so every run takes place in the same folder, which is made anew from
a copy whenever a run has touched it. The notes are never written to; their states lie side by side
and trade places.
"""

import hashlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kebab.embed.registry import MODELS
from tests.fakes import tiny_model
from tests.fakes.console import environment

_KEPT = ("config", "data", "state")

Signature = dict[str, tuple[int, int]]


def write_notes(root: Path) -> None:
    """Write a small mixed folder."""
    files: dict[str, str | bytes] = {
        "bread.md": "---\ntitle: Bread\ntags: [food]\n---\n# Bread\n\nThe dough rests for 12 hours."
        "\n\n## Oven\n\nThe oven is heated to 250 degrees before the bread goes in.\n",
        "park.txt": "the dog runs in the park\n\nthe cat sleeps on the mat\n",
        "빵.md": "# 빵\n\n반죽은 열두 시간 동안 쉰다. 오븐은 250도로 데운다.\n",
        "legacy.txt": "오래된 메모: 강아지가 공원에서 달린다.\n".encode("cp949"),
        "food/soup.md": "# Soup\n\nThe soup simmers for 40 minutes.\n",
        "food/twin.md": "# Soup\n\nThe soup simmers for 40 minutes.\n",
        "food/.gitignore": "*.tmp\n",
        "food/left.tmp": "left out\n",
        "picture.bin": b"\0\1\2",
        "empty.md": "",
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (root / "link.md").symlink_to("bread.md")


def edit_notes(root: Path) -> None:
    """Edit, delete and add."""
    write_notes(root)
    bread = root / "bread.md"
    bread.write_text(bread.read_text().replace("12 hours", "18 hours"))
    (root / "food" / "soup.md").unlink()
    (root / "food" / "stew.md").write_text("# Stew\n\nThe stew simmers for two hours.\n")


def move_notes(root: Path) -> None:
    """Rename a file and a folder."""
    write_notes(root)
    (root / "park.txt").rename(root / "garden.txt")
    (root / "food").rename(root / "kitchen")


@dataclass
class Homes:
    """The live home and the copies of its states."""

    folder: Path
    _held: str = ""
    _shown: str = "first"
    _clean: dict[str, Signature] = field(default_factory=dict)

    @property
    def live(self) -> Path:
        return self.folder / "home"

    @property
    def notes(self) -> Path:
        return self.live / "notes"

    @property
    def models(self) -> Path:
        return self.live / "cache" / "kebab" / "models"

    @property
    def data(self) -> Path:
        return self.live / "data" / "kebab"

    def build(self) -> None:
        """Write notes and models."""
        write_notes(self.notes)
        edit_notes(self.folder / "edited")
        move_notes(self.folder / "moved")
        # One only: with two, a fault at the first would be a reason to take the other for good.
        tiny_model.install_model(MODELS[0], self.folder / "models")
        self.mend_models()
        for name in _KEPT:
            (self.live / name).mkdir()

    def mend_models(self) -> None:
        """Do what fetching the model anew does."""
        shutil.rmtree(self.models, ignore_errors=True)
        shutil.copytree(self.folder / "models", self.models)

    def show(self, state: str) -> None:
        """Put the notes of a state in place: `first`, `edited` or `moved`."""
        if state != self._shown:
            self.notes.rename(self.folder / self._shown)
            (self.folder / state).rename(self.notes)
            self._shown = state

    def keep(self, name: str) -> None:
        """Remember the live home under a name."""
        for part in _KEPT:
            shutil.copytree(self.live / part, self.folder / name / part, symlinks=True)
        self._held = ""

    def restore(self, name: str) -> None:
        """Make the live home what was remembered, unless it still is."""
        for part in _KEPT:
            key = f"{name}/{part}"
            if self._held == name and compute_signature(self.live / part) == self._clean[key]:
                continue
            shutil.rmtree(self.live / part, ignore_errors=True)
            shutil.copytree(self.folder / name / part, self.live / part, symlinks=True)
            self._clean[key] = compute_signature(self.live / part)
        self._held = name

    def changed(self, *parts: str) -> set[str]:
        """Return which files differ from what was restored last."""
        found: set[str] = set()
        for part in parts or _KEPT:
            before, now = self._clean[f"{self._held}/{part}"], compute_signature(self.live / part)
            found |= {name for name, _ in before.items() ^ now.items()}
        return found

    def compute_digest(self, *parts: str) -> str:
        """Return what tells these bytes from others, without what a lock leaves."""
        found = hashlib.sha256()
        for path in sorted(one for part in parts for one in (self.live / part).rglob("*")):
            if not path.name.endswith(("-shm", "writer.lock")):
                found.update(f"{path}\0{path.stat().st_size}\0".encode())
                found.update(path.read_bytes() if path.is_file() else b"")
        return found.hexdigest()


def compute_signature(folder: Path) -> Signature:
    """Return what tells a folder from one that was written to."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = f"{place}{os.sep}{name}"
            stat = os.lstat(path)
            whole = (stat.st_size, stat.st_mtime_ns) if name in files else (0, 0)
            found[path] = whole
    return found


def set_environment(patch: pytest.MonkeyPatch, home: Path, **more: str) -> None:
    """Let the process be that of a person who lives here."""
    wanted = {**environment(home), "KEBAB_MODELS_EMBEDDING_THREADS": "1", **more}
    for name in set(os.environ) - set(wanted):
        patch.delenv(name)
    for name, value in wanted.items():
        patch.setenv(name, value)
    patch.chdir(home)
