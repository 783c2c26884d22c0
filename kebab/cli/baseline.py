"""Reads and writes the file of known findings that `kebab review --baseline` leaves out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from kebab.app.references import make_absolute
from kebab.app.review_text import ItemLocator
from kebab.cli.render.canvas import clean, pluralize
from kebab.cli.review import PageDisplay
from kebab.core.durable import replace_file
from kebab.core.files import is_below, to_slashes
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import translate_os_errors
from kebab.review.selection import name_finding
from kebab.text.globs import matches_glob
from kebab.wire.record import DECODE_ERRORS, to_invalid_input
from kebab.wire.review import AgentItems, KnownFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.cli.context import CommandContext
    from kebab.cli.render.review import ReviewTally

_FIELD = "$.baseline"


class _Entry(KnownFinding, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finding in the file; its path is relative to the folder of the baseline."""

    reason: str = ""


class _Baseline(Struct, frozen=True, kw_only=True):
    version: Literal[1]
    findings: list[_Entry]


def read_baseline(path: str) -> list[KnownFinding]:
    """Return the findings of a baseline with absolute paths.

    Raises:
        InvalidInput: It is no baseline.
        IoError: It cannot be read.
    """
    folder = Path(make_absolute(path)).parent
    return [
        KnownFinding(
            file=os.path.normpath(folder / one.file), rule=one.rule, fingerprint=one.fingerprint
        )
        for one in _read(path)
    ]


def _read(path: str) -> list[_Entry]:
    with translate_os_errors(path, "read"):
        raw = Path(path).read_bytes()
    try:
        return msgspec.json.decode(raw, type=_Baseline).findings
    except DECODE_ERRORS as fault:
        cause = f"{path} is no baseline: {to_invalid_input(fault).cause}"
        raise InvalidInput(field=_FIELD, cause=cause) from fault


class BaselineDisplay(PageDisplay):
    """Collects all findings, and writes them at the end.

    Entries of files that were not reviewed stay, unless the file is gone.
    """

    def __init__(self, context: CommandContext, path: str, names: Sequence[str]) -> None:
        self._context = context
        self._path = Path(path)
        self._folder = Path(make_absolute(path)).parent
        self._locator = ItemLocator()
        self._names = list(map(make_absolute, names))
        self._found: list[_Entry] = []
        self._earlier = _read(path) if self._path.exists() else []

    def show(self, page: AgentItems) -> None:
        """Keep the findings of a page."""
        if page.document is None:
            return
        file = to_slashes(os.path.relpath(page.document.file, self._folder))
        for one in self._locator.locate(page).items:
            self._found.append(
                _Entry(
                    file=file,
                    rule=name_finding(one.item),
                    fingerprint=self._locator.compute_fingerprint(one.item),
                    reason=one.item.r,
                )
            )

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Write the file, unless the review was interrupted."""
        if not completed:
            err = self._context.channels.err
            note = self._context.create_canvas(err).note
            err.write_lines(note("the baseline is not written: the review was interrupted"))
            return
        kept = [
            one
            for one in self._earlier
            if not self._is_reviewed(one.file) and (self._folder / one.file).exists()
        ]
        findings = sorted([*kept, *self._found], key=lambda one: (one.file, one.rule))
        rows = ",\n".join(f"  {msgspec.json.encode(one).decode()}" for one in findings)
        body = f"[\n{rows}\n ]" if rows else "[]"
        with translate_os_errors(self._path, "write"), replace_file(self._path, 0o644) as file:
            file.write(f'{{"version": 1, "findings": {body}}}\n'.encode())
        files = len({one.file for one in findings})
        words = f"{pluralize(len(findings), 'finding')} of {pluralize(files, 'file')}"
        self._context.channels.out.write_lines([f"{clean(str(self._path))}: {words}"])

    def _is_reviewed(self, file: str) -> bool:
        """Return whether a file is one of those that were named, or below one."""
        path = os.path.normpath(self._folder / file)
        return any(
            path == name or is_below(path, name) or matches_glob(name, path) for name in self._names
        )
