"""Renders the findings of a review for other programs: one per line, or as SARIF 2.1.0.

SARIF is the Static Analysis Results Interchange Format.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kebab import __version__
from kebab.app.review_text import LocatedItem, LocatedPage, Place
from kebab.cli.render.canvas import clean
from kebab.cli.render.compact import format_openable_path
from kebab.cli.render.hits import get_line
from kebab.cli.render.review import ReviewTally, name_rule
from kebab.wire.review import (
    AgentItem,
    AgentItems,
    ItemCitation,
    ItemFix,
    ReviewRule,
    SeverityName,
    UnansweredText,
)

_GITHUB: Mapping[SeverityName, str] = {
    "error": "error",
    "warning": "warning",
    "suggestion": "notice",
}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_VALUES = {**_DATA, ":": "%3A", ",": "%2C"}

LineRenderer = Callable[[AgentItems, LocatedPage], Iterator[str]]


def render_positions(page: AgentItems, located: LocatedPage) -> Iterator[str]:
    """Yield `path:line:column: severity: message [rule]`; the column counts characters."""
    for one in located.items:
        yield _format_position(page, one, one.start.column)


def render_vimgrep(page: AgentItems, located: LocatedPage) -> Iterator[str]:
    """Yield `path:line:column: severity: message [rule]`; the column counts bytes, as in Vim."""
    for one in located.items:
        yield _format_position(page, one, one.start.byte)


def _format_position(page: AgentItems, one: LocatedItem, column: int) -> str:
    item, path = one.item, clean(_name_file(page))
    place = f"{path}:{one.start.line}:{column}"
    return f"{place}: {item.s}: {clean(item.r)} [{name_rule(item)}]"


def render_github(page: AgentItems, located: LocatedPage) -> Iterator[str]:
    """Yield the commands that make annotations in a workflow of GitHub.

    Columns are given within one line only, because GitHub ignores them otherwise.
    """
    for one in located.items:
        fields = {"file": _name_file(page)}
        if located.state == "same":
            fields |= {"line": str(one.start.line), "endLine": str(one.end.line)}
            if one.start.line == one.end.line:
                fields |= {"col": str(one.start.utf16), "endColumn": str(one.end.utf16)}
        fields["title"] = name_rule(one.item)
        values = ",".join(f"{name}={_escape(value, _VALUES)}" for name, value in fields.items())
        yield f"::{_GITHUB[one.item.s]} {values}::{_escape(one.item.r, _DATA)}"


def render_unanswered_github(tally: ReviewTally) -> Iterator[str]:
    """Yield annotations for what the model did not review."""
    for one in tally.degraded.values():
        yield f"::warning title=not reviewed::{_escape(one.reason, _DATA)}"
    for text in tally.unanswered:
        fields = {"file": format_openable_path(text.file, text.file)}
        if text.lines is not None:
            fields |= {"line": str(text.lines[0]), "endLine": str(text.lines[1])}
        values = ",".join(f"{name}={_escape(value, _VALUES)}" for name, value in fields.items())
        yield f"::warning {values},title=not reviewed::the language model did not review this"


def _escape(text: str, replacements: Mapping[str, str]) -> str:
    return "".join(replacements.get(character, character) for character in text)


def _name_file(page: AgentItems) -> str:
    assert page.document is not None
    return format_openable_path(page.document.file, page.document.doc_path)


LINE_RENDERERS: Mapping[str, LineRenderer] = {
    "github": render_github,
    "vimgrep": render_vimgrep,
}
"""The forms of `--format` with one line for each finding."""


_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT = "%SRCROOT%"
_LEVELS: dict[SeverityName, str] = {"error": "error", "warning": "warning", "suggestion": "note"}


class SarifLog:
    """Collects the findings of all pages; `rules` are the descriptions of all rules."""

    def __init__(self, rules: Sequence[ReviewRule], root: Path) -> None:
        self._root = root
        self._rules = [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.summary},
                "fullDescription": {"text": rule.explanation or rule.summary},
                "help": {"text": f"{rule.summary}\n\n{rule.explanation}".rstrip()},
                "defaultConfiguration": {"level": _LEVELS[rule.severity], "enabled": rule.enabled},
                "properties": {"kind": rule.kind},
            }
            for rule in rules
        ]
        self._indexes = {rule.id: index for index, rule in enumerate(rules)}
        self._results: list[dict[str, Any]] = []

    def add(self, page: AgentItems, located: LocatedPage) -> None:
        """Add the findings of a page."""
        citations = {one.cid: one for one in page.citations}
        for one in located.items:
            assert page.document is not None
            artifact = self._locate_file(page.document.file)
            self._results.append(self._build_result(one, located, artifact, citations))

    def render(self, tally: ReviewTally, *, completed: bool = True) -> Iterator[str]:
        """Yield the lines of the log; what was not reviewed is a notification of the tool."""
        notifications = [
            *(_notify(one.reason) for one in tally.degraded.values()),
            *(self._notify_place(one) for one in tally.unanswered),
        ]
        is_whole = not tally.unanswered and tally.degraded.keys() <= {"related"}
        invocation: dict[str, Any] = {"executionSuccessful": completed and is_whole}
        if notifications:
            invocation["toolExecutionNotifications"] = notifications
        run = {
            "tool": {
                "driver": {
                    "name": "kebab",
                    "version": __version__,
                    "semanticVersion": __version__,
                    "rules": self._rules,
                }
            },
            "columnKind": "utf16CodeUnits",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "originalUriBaseIds": {_ROOT: {"uri": f"{self._root.as_uri().rstrip('/')}/"}},
            "invocations": [invocation],
            "results": self._results,
        }
        log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
        yield from json.dumps(log, indent=2, ensure_ascii=False).split("\n")

    def _notify_place(self, text: UnansweredText) -> dict[str, Any]:
        physical: dict[str, Any] = {"artifactLocation": self._locate_file(text.file)}
        if text.lines is not None:
            physical["region"] = {"startLine": text.lines[0], "endLine": text.lines[1]}
        message = "the language model did not review this"
        return {**_notify(message), "locations": [{"physicalLocation": physical}]}

    def _build_result(
        self,
        one: LocatedItem,
        located: LocatedPage,
        artifact: dict[str, str],
        citations: dict[str, ItemCitation],
    ) -> dict[str, Any]:
        item = one.item
        physical: dict[str, Any] = {"artifactLocation": artifact}
        if located.state == "same":
            physical["region"] = _build_region(one.start, one.end)
        result: dict[str, Any] = {
            "ruleId": name_rule(item),
            "ruleIndex": self._find_rule(item),
            "level": _LEVELS[item.s],
            "message": {"text": item.r},
            "locations": [{"physicalLocation": physical}],
            "partialFingerprints": {"kebabUid/v1": item.uid},
        }
        if isinstance(item.fix, ItemFix) and located.state == "same":
            result["fixes"] = [_build_fix(one, item.fix, artifact)]
        cited = citations.get(item.cid) if isinstance(item.cid, str) else None
        if cited is not None and cited.file is not None:
            result["relatedLocations"] = [self._relate(cited, cited.file)]
        return result

    def _find_rule(self, item: AgentItem) -> int:
        """Return the index of a rule; the kinds of the model's findings are added as rules."""
        name = name_rule(item)
        if name not in self._indexes:
            self._indexes[name] = len(self._rules)
            text = f"Finds {name.replace('_', ' ')} with a language model."
            self._rules.append({"id": name, "shortDescription": {"text": text}})
        return self._indexes[name]

    def _relate(self, cited: ItemCitation, file: str) -> dict[str, Any]:
        physical: dict[str, Any] = {"artifactLocation": self._locate_file(file)}
        line = get_line(cited.citation)
        if line is not None:
            physical["region"] = {"startLine": line}
        return {"physicalLocation": physical, "message": {"text": "the other passage"}}

    def _locate_file(self, file: str) -> dict[str, str]:
        """Return the address of a file, relative below the working directory."""
        path = Path(file)
        if not path.is_relative_to(self._root):
            return {"uri": path.as_uri()}
        base = f"{self._root.as_uri().rstrip('/')}/"
        return {"uri": path.as_uri().removeprefix(base), "uriBaseId": _ROOT}


def _notify(text: str) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": text}}


def _build_region(start: Place, end: Place) -> dict[str, int]:
    return {
        "startLine": start.line,
        "startColumn": start.utf16,
        "endLine": end.line,
        "endColumn": end.utf16,
    }


def _build_fix(one: LocatedItem, fix: ItemFix, artifact: dict[str, str]) -> dict[str, Any]:
    replacement = {
        "deletedRegion": _build_region(one.start, one.end),
        "insertedContent": {"text": fix.text},
    }
    note = fix.note if isinstance(fix.note, str) else one.item.r
    change = {"artifactLocation": artifact, "replacements": [replacement]}
    return {"description": {"text": note}, "artifactChanges": [change]}
