"""Writing everything that is made from declarations; `--check` only compares.

Run from a checkout: `python -m kebab.wire.publish [--check]`.
"""

import difflib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from kebab.cli.reference import commands_table, reference_page
from kebab.config.template import table as settings_table
from kebab.wire.bindings import bindings
from kebab.wire.lock import Changes, changes, lock
from kebab.wire.pages import errors_page
from kebab.wire.schemas import documents

_ROOT = Path(__file__).resolve().parents[2]
_WIRE = Path("docs/wire-schema")
_LOCK = _WIRE / "v1" / "errors.lock.json"
_BLOCK = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def pages() -> Iterator[tuple[Path, str]]:
    """Yield every generated file, relative to the checkout, with its text."""
    for name, schema in documents().items():
        yield _WIRE / "v1" / f"{name}.schema.json", _json(schema)
    yield _WIRE / "errors.md", errors_page()
    yield _WIRE / "cli.md", reference_page()
    for name, text in bindings().items():
        yield _WIRE / "v1" / "bindings" / name, text
    yield _LOCK, _json(lock())
    yield Path("README.md"), _readme((_ROOT / "README.md").read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` print what differs; return the exit status."""
    found = _changes()
    if found.broken:
        sys.stdout.write("".join(f"frozen: {line}\n" for line in found.broken))
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in found.added))
    wanted = dict(pages())
    if "--check" not in arguments:
        for path, text in wanted.items():
            (_ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (_ROOT / path).write_text(text, encoding="utf-8")
        for path in _orphans(wanted):
            path.unlink()
        return 0
    differences = [*_differences(wanted), *(f"no owner: {path}\n" for path in _orphans(wanted))]
    sys.stdout.write("".join(differences))
    return 1 if differences else 0


def _changes() -> Changes:
    """Return how the catalogue differs from what is locked; without a lock all of it is new."""
    path = _ROOT / _LOCK
    released = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return changes(released, lock())


def _differences(wanted: dict[Path, str]) -> Iterator[str]:
    for path, text in wanted.items():
        file = _ROOT / path
        found = file.read_text(encoding="utf-8") if file.exists() else ""
        yield from difflib.unified_diff(
            found.splitlines(keepends=True), text.splitlines(keepends=True), str(path), "generated"
        )


def _orphans(wanted: dict[Path, str]) -> list[Path]:
    files = (file for file in (_ROOT / _WIRE / "v1").rglob("*") if file.is_file())
    return sorted(file for file in files if file.relative_to(_ROOT) not in wanted)


def _readme(text: str) -> str:
    blocks = {"commands": commands_table(), "settings": settings_table()}
    return _BLOCK.sub(lambda found: f"{found[1]}{blocks[found[2]]}\n{found[3]}", text)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
