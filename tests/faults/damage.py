"""Files that are not as they were left: gone, empty, cut off, overwritten, or a folder."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.faults.homes import Homes
from tests.faults.world import Fault, Injection

_NOISE = b"\xff"


def _empty_file(path: Path) -> None:
    path.write_bytes(b"")


def _cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _truncate(path: Path) -> None:
    os.truncate(path, max(0, path.stat().st_size - 1))


def _overwrite(path: Path) -> None:
    path.write_bytes(_NOISE * path.stat().st_size)


def _replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FORMS: Mapping[str, Callable[[Path], None]] = {
    "missing": Path.unlink,
    "empty": _empty_file,
    "half": _cut_in_half,
    "cut": _truncate,
    "noise": _overwrite,
    "folder": _replace_by_folder,
}
"""What can have become of a file."""

COMMANDS = (
    *("vector search", "hybrid search", "ingest of nothing new", "forced ingest", "doctor"),
    *("extractive ask", "list", "fetch", "session show", "schema", "model list", "rm"),
)
"""The commands that meet damaged files."""


def list_files(homes: Homes) -> list[Path]:
    """Return every file of a home that a damage can befall, but never what a person wrote."""
    found = [
        path
        for folder in (homes.data, homes.live / "config", homes.models)
        for path in sorted(folder.rglob("*"))
    ]
    return [path for path in found if path.is_file() and path.parent.name != "stdin"]


def list_damages(homes: Homes) -> Iterator[tuple[Path, Injection]]:
    """Yield every damage of every file, under a name that does not change from run to run."""
    for number, path in enumerate(list_files(homes)):
        name = path.relative_to(homes.live)
        kind = f"{'/'.join(name.parts[:-1])}/*{name.suffix}" if "lance" in name.parts else str(name)
        for form, act in FORMS.items():
            # Only by hand can a folder come to be where the lock file is.
            if (path.name, form) != ("writer.lock", "folder"):
                yield path, Injection(f"rest.{kind}", number, Fault(form, act))
