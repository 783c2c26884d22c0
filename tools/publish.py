"""Writes every generated file; `--check` only compares.

Run from a checkout: `python -m tools.publish [--check]`.
"""

import difflib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from kebab.config.load import iter_documented_settings
from kebab.errors.catalog import build_catalog
from kebab.wire.json_schema import build_schemas
from tools.cli_reference import (
    build_commands_table,
    build_man_page,
    build_reference_page,
    build_topics_table,
)
from tools.error_catalog import Changes, build_lock, compare_locks, render_errors_page
from tools.formats_page import render_formats_page
from tools.method_stubs import build_method_stubs
from tools.pictures import build_pictures
from tools.review_rules_page import render_rules_page

_ROOT = Path(__file__).resolve().parents[1]
_WIRE = Path("docs/wire-schema")
_LOCK = _WIRE / "v1" / "errors.lock.json"
_PAGES = _WIRE / "errors"
_BLOCK = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def build_settings_list() -> str:
    """Return the settings with their defaults as a Markdown list."""
    return "\n".join(
        f"- `{setting.key} = {json.dumps(setting.default)}`: {setting.text}"
        for setting in iter_documented_settings()
    )


def list_files() -> Iterator[tuple[Path, str]]:
    """Yield every generated file, relative to the checkout, with its text."""
    for name, schema in build_schemas().items():
        yield _WIRE / "v1" / f"{name}.schema.json", _format_json(schema)
    yield _WIRE / "errors.md", render_errors_page()
    yield _WIRE / "cli.md", build_reference_page()
    yield Path("docs") / "kebab.1", build_man_page()
    yield Path("docs") / "formats.md", render_formats_page()
    yield Path("docs") / "review-rules.md", render_rules_page()
    yield _LOCK, _format_json(build_lock())
    yield Path("kebab") / "app" / "methods.pyi", build_method_stubs()
    yield from build_pictures().items()
    for page, prefix in (("README.md", "docs/"), ("docs/README.md", ""), ("docs/settings.md", "")):
        yield Path(page), _fill_blocks((_ROOT / page).read_text(encoding="utf-8"), prefix)


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` print what differs; return the exit status."""
    found = _compare_with_lock()
    faults = [f"frozen: {line}\n" for line in found.broken] or [*_find_page_faults()]
    if faults:
        sys.stdout.write("".join(faults))
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in found.added))
    wanted = dict(list_files())
    if "--check" not in arguments:
        for path, text in wanted.items():
            (_ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (_ROOT / path).write_text(text, encoding="utf-8")
        for path in _find_orphans(wanted):
            path.unlink()
        return 0
    differences = [
        *_list_differences(wanted),
        *(f"no owner: {path}\n" for path in _find_orphans(wanted)),
    ]
    sys.stdout.write("".join(differences))
    return 1 if differences else 0


def _compare_with_lock() -> Changes:
    """Return how the catalogue differs from the lock file; without one every row is new."""
    path = _ROOT / _LOCK
    released = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return compare_locks(released, build_lock())


def _find_page_faults() -> Iterator[str]:
    """Yield the codes without a page that explains them, and the pages without a code."""
    pages = {path.stem for path in (_ROOT / _PAGES).glob("*")}
    yield from (f"not explained: {_PAGES / code}.md\n" for code in build_catalog().keys() - pages)
    yield from (f"no such code: {_PAGES / page}.md\n" for page in pages - build_catalog().keys())


def _list_differences(wanted: dict[Path, str]) -> Iterator[str]:
    for path, text in wanted.items():
        file = _ROOT / path
        found = file.read_text(encoding="utf-8") if file.exists() else ""
        yield from difflib.unified_diff(
            found.splitlines(keepends=True), text.splitlines(keepends=True), str(path), "generated"
        )


def _find_orphans(wanted: dict[Path, str]) -> list[Path]:
    files = (file for file in (_ROOT / _WIRE / "v1").rglob("*") if file.is_file())
    return sorted(file for file in files if file.relative_to(_ROOT) not in wanted)


def _fill_blocks(text: str, prefix: str) -> str:
    """Return a page with its generated tables; links to other pages begin with `prefix`."""
    blocks = {
        "commands": build_commands_table(),
        "settings": build_settings_list(),
        "topics": build_topics_table(prefix),
    }
    return _BLOCK.sub(lambda found: f"{found[1]}{blocks[found[2]]}\n{found[3]}", text)


def _format_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
