"""Plans and makes changes of the files that clients read."""

import difflib
import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from kebab.app.own_files import keep_copy, replace_file
from kebab.cli.hints import join_words
from kebab.cli.integrations.clients import (
    NAME,
    Client,
    Entry,
    Places,
    Scope,
    find_program,
    is_current,
)
from kebab.cli.integrations.entries import EntryError, change_entry, find_entry
from kebab.errors.catalog import ClientConfigInvalid, IoError
from kebab.errors.system import resolve_path, translate_os_errors
from kebab.wire.health import FileChange, InstalledFile, IntegrationKind, IntegrationState

_WHEEL = Path(__file__).parents[2] / "_data" / "integrations"
_CHECKOUT = Path(__file__).parents[3] / "integrations"
_SKILL = Path("claude-code", "kebab", "SKILL.md")
_TITLE = b"\n# kebab\n\n"
_CONTEXT_LINES = 1
"""Few, because the lines beside an entry may be the secrets of another server."""


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
    """Return the skill of this version; it names the program where `kebab` is not on the `PATH`."""
    text = ((_WHEEL if _WHEEL.exists() else _CHECKOUT) / _SKILL).read_bytes()
    program = find_unlisted_program()
    if program is None:
        return text
    note = f"`kebab` is not on the `PATH` of this machine: write `{program}` in its place.\n\n"
    return text.replace(_TITLE, _TITLE + note.encode("utf-8", "surrogateescape"), 1)


def find_unlisted_program() -> str | None:
    """Return the command line that starts this kebab, None where `kebab` does."""
    return None if shutil.which(NAME) else join_words(find_program(sys.argv))


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
        old = None if before is None else before.decode()
        place = client.container, NAME
        found = find_entry(path, old, place).entry
        new = change_entry(path, old, place, wanted)
        if wanted is None:
            change: FileChange = "none" if found is None else "remove"
        elif found is None:
            change = "create" if old is None else "add"
        else:
            change = "keep" if is_current(found, wanted) else "update"
        after = None if new is None else new.encode()
        return FilePlan(kind="mcp", path=path, before=before, after=after, change=change)
    except EntryError as fault:
        cause = str(fault)
    except UnicodeError:
        cause = "the text or the path of kebab is not valid UTF-8"
    raise ClientConfigInvalid(client=client.name, path=resolve_path(path), cause=cause)


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
    before, after = (
        (data or b"").decode("utf-8", "replace").splitlines() for data in (plan.before, plan.after)
    )
    name = str(plan.path)
    yield from difflib.unified_diff(before, after, name, name, n=_CONTEXT_LINES, lineterm="")


def _read(path: Path) -> bytes | None:
    with translate_os_errors(path, "read"):
        return path.read_bytes() if path.exists() else None


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
    if "mcp" in kinds and scope in client.entries:
        plans.append(plan_entry(client, places.resolve(client.entries[scope]), entry))
    return plans
