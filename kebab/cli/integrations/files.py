"""Plans and makes changes of the files that clients read."""

import difflib
import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from kebab.app.own_files import keep_copy, replace_file
from kebab.cli.integrations import json_entry, toml_entry
from kebab.cli.integrations.clients import (
    NAME,
    Client,
    Entry,
    EntryError,
    Places,
    Scope,
    is_current,
)
from kebab.errors.catalog import ClientConfigInvalid, IoError
from kebab.errors.system import resolve_path, translate_os_errors
from kebab.wire.health import FileChange, InstalledFile, IntegrationKind, IntegrationState

_WHEEL = Path(__file__).parents[2] / "_data" / "integrations"
_CHECKOUT = Path(__file__).parents[3] / "integrations"
_SKILL = Path("claude-code", "kebab", "SKILL.md")
_BOM = b"\xef\xbb\xbf"
_HUNK = re.compile(r"(?<=[-+])\d+")
_CONTEXT_LINES = 1
"""Few, because the lines beside an entry may be the secrets of another server."""


class _Format(NamedTuple):
    """How entries of a format are read and changed."""

    read_values: Callable[[str], Any]
    set_entry: Callable[[str | None, tuple[str, str], Entry], str]
    remove_entry: Callable[[str, tuple[str, str]], str | None]


_JSON_FORMAT = _Format(json_entry.read_values, json_entry.set_entry, json_entry.remove_entry)
_TOML_FORMAT = _Format(toml_entry.read_values, toml_entry.set_entry, toml_entry.remove_entry)


def _find_format(path: Path) -> _Format:
    return _TOML_FORMAT if path.suffix == ".toml" else _JSON_FORMAT


class FilePlan(Struct, frozen=True, kw_only=True):
    """A file of a client as it is, and as it is to be; None stands for no file."""

    kind: IntegrationKind
    path: Path
    before: bytes | None
    after: bytes | None
    change: FileChange

    @property
    def is_needed(self) -> bool:
        """Whether the file changes."""
        return self.before != self.after


def read_skill() -> bytes:
    """Return the skill of this version."""
    return ((_WHEEL if _WHEEL.exists() else _CHECKOUT) / _SKILL).read_bytes()


def plan_skill(path: Path, *, uninstall: bool) -> FilePlan:
    """Return what is to be done with the file of the skill.

    Raises:
        IoError: The file cannot be read.
    """
    before, wanted = _read(path), read_skill()
    if uninstall:
        change: FileChange = "none" if before is None else "remove"
    elif before is None:
        change = "create"
    else:
        change = "keep" if before == wanted else "replace"
    after = None if uninstall else wanted
    return FilePlan(kind="skill", path=path, before=before, after=after, change=change)


def plan_entry(client: Client, path: Path, wanted: Entry | None) -> FilePlan:
    """Return what is to be done with the file of the entry; None removes the entry.

    Raises:
        ClientConfigInvalid: The file cannot be changed safely.
        IoError: The file cannot be read.
    """
    before = _read(path)
    if wanted is None and NAME.encode() not in (before or b""):
        return FilePlan(kind="mcp", path=path, before=before, after=before, change="none")
    try:
        bom = _BOM if (before or b"").startswith(_BOM) else b""
        old = None if before is None else before.removeprefix(bom).decode()
        form, place = _find_format(path), (client.container, NAME)
        found = _pop_entry(form.read_values(old or ""), place)[0]
        change: FileChange = "none" if found is None else "remove"
        new = old
        if wanted is not None:
            new = form.set_entry(old, place, wanted)
            change = "keep" if is_current(found, wanted) else "update"
            if old is None or found is None:
                change = "create" if old is None else "add"
        elif found is not None:
            new = form.remove_entry(old or "", place)
        if new is not None:
            _check_change(form, old or "", new, place, wanted)
        after = None if new is None else bom + new.encode()
        return FilePlan(kind="mcp", path=path, before=before, after=after, change=change)
    except EntryError as fault:
        cause = str(fault)
    except UnicodeError:
        cause = "the text or the path of kebab is not valid UTF-8"
    raise ClientConfigInvalid(client=client.name, path=resolve_path(path), cause=cause)


def _check_change(
    form: _Format, old: str, new: str, place: tuple[str, str], wanted: Entry | None
) -> None:
    """Refuse a changed text unless exactly the entry differs; a fault of kebab costs no settings.

    Raises:
        EntryError: Another value differs.
    """
    entry, rest = _pop_entry(form.read_values(new), place)
    done = entry is None if wanted is None else is_current(entry, wanted)
    if not done or rest != _pop_entry(form.read_values(old), place)[1]:
        raise EntryError("the entry cannot be changed without other values")


def _pop_entry(values: Any, place: tuple[str, str]) -> tuple[Any, Any]:
    """Return the entry and the values without it; an object that has nothing else is left out."""
    container = values.get(place[0]) if isinstance(values, dict) else None
    if not isinstance(container, dict):
        return None, values
    others = {key: value for key, value in container.items() if key != place[1]}
    rest = {key: value for key, value in values.items() if key != place[0]}
    return container.get(place[1]), {**rest, place[0]: others} if others else rest


def apply_plan(plan: FilePlan) -> InstalledFile:
    """Change the file; a skill that kebab did not write is kept as a copy beside it.

    Raises:
        IoError: The file cannot be written, or another program changed it meanwhile.
    """
    backup = None
    if plan.is_needed:
        with translate_os_errors(plan.path, "write"):
            target = Path(os.path.realpath(plan.path))
            # A new file could replace a write-protected one.
            if target.is_file() and not target.stat().st_mode & 0o222:
                raise PermissionError(errno.EACCES, "the file is write-protected")
            if _read(plan.path) != plan.before:
                raise OSError(errno.EBUSY, "another program changed the file meanwhile")
            if plan.kind == "skill":
                backup = keep_copy(plan.path, read_skill().decode())
            if plan.after is None:
                _remove(plan)
            else:
                plan.path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(plan.path, plan.after)
    return describe_plan(plan, backup)


def describe_plan(plan: FilePlan, backup: Path | None = None) -> InstalledFile:
    """Return the record of a planned change."""
    copy = None if backup is None else str(backup)
    return InstalledFile(kind=plan.kind, path=str(plan.path), change=plan.change, backup=copy)


def _remove(plan: FilePlan) -> None:
    """Remove a file, and the folder of a skill when it is empty; a link to the file stays."""
    Path(os.path.realpath(plan.path)).unlink()
    if plan.kind == "skill":
        with suppress(OSError):  # older copies are still in it
            plan.path.parent.rmdir()


def format_diff(plan: FilePlan) -> Iterator[str]:
    """Yield the difference that a change makes, as a unified diff."""
    if not plan.is_needed:
        return
    before, after = (_split(data) for data in (plan.before, plan.after))
    pairs = enumerate(zip(before, after, strict=False))
    first = next((place for place, (old, new) in pairs if old != new), len(before))
    skipped = max(0, min(first, len(after)) - _CONTEXT_LINES)
    name = str(plan.path)
    lines = difflib.unified_diff(
        before[skipped:], after[skipped:], name, name, n=_CONTEXT_LINES, lineterm=""
    )
    for line in lines:
        yield (
            _HUNK.sub(lambda place: str(int(place[0]) + skipped), line)
            if line[:2] == "@@"
            else line
        )


def _split(data: bytes | None) -> list[str]:
    return (data or b"").removeprefix(_BOM).decode("utf-8", "replace").splitlines()


def _read(path: Path) -> bytes | None:
    with translate_os_errors(path, "read"):
        return path.read_bytes() if path.exists() else None


def format_snippet(client: Client, path: Path, entry: Entry) -> str:
    """Return the entry with what surrounds it in an otherwise empty file."""
    return _find_format(path).set_entry(None, (client.container, NAME), entry)


def find_state(plan: Callable[[], FilePlan]) -> IntegrationState:
    """Return the state of a file from what its installation would change."""
    try:
        change = plan().change
    except (ClientConfigInvalid, IoError):
        return "invalid"
    if change in ("create", "add"):
        return "absent"
    return "current" if change == "keep" else "outdated"


def plan_files(
    client: Client,
    places: Places,
    scope: Scope,
    kinds: tuple[IntegrationKind, ...],
    entry: Entry | None,
) -> list[FilePlan]:
    """Return what is to be done with the files of a client; without an entry they are removed."""
    plans = []
    skill = places.find_skill(client, scope) if "skill" in kinds else None
    if skill:
        plans.append(plan_skill(skill, uninstall=entry is None))
    if "mcp" in kinds:
        plans.append(plan_entry(client, places.resolve(client.entries[scope]), entry))
    return plans
