"""Renders the findings of a review for other programs: one per line, or as SARIF 2.1.0.

SARIF is the Static Analysis Results Interchange Format.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kebab import __version__
from kebab.app.review_text import LocatedItem, LocatedPage
from kebab.cli.render.canvas import clean
from kebab.cli.render.compact import format_openable_path
from kebab.cli.render.hits import get_line
from kebab.cli.render.review import ReviewTally
from kebab.review.selection import name_finding
from kebab.wire.review import AgentItems, ItemCitation, ItemFix, ReviewRule, SeverityName

_GITHUB: Mapping[SeverityName, str] = {
    "error": "error",
    "warning": "warning",
    "suggestion": "notice",
}
_UNANSWERED = "the language model did not review this"
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
    return f"{place}: {item.s}: {clean(item.r)} [{name_finding(item)}]"


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
        fields["title"] = name_finding(one.item)
        yield f"::{_GITHUB[one.item.s]} {_format_properties(fields)}::{_escape(one.item.r, _DATA)}"


def render_unanswered_github(tally: ReviewTally) -> Iterator[str]:
    """Yield annotations for what the model did not review."""
    for one in tally.degraded.values():
        yield f"::warning title=not reviewed::{_escape(one.reason, _DATA)}"
    for text in tally.unanswered:
        fields = {"file": format_openable_path(text.file, text.file)}
        if text.lines is not None:
            fields |= {"line": str(text.lines[0]), "endLine": str(text.lines[1])}
        yield f"::warning {_format_properties(fields)},title=not reviewed::{_UNANSWERED}"


def _format_properties(fields: Mapping[str, str]) -> str:
    return ",".join(f"{name}={_escape(value, _VALUES)}" for name, value in fields.items())


def _escape(text: str, replacements: Mapping[str, str]) -> str:
    return "".join(replacements.get(character, character) for character in text)


def _name_file(page: AgentItems) -> str:
    assert page.document is not None
    return format_openable_path(page.document.file, page.document.doc_path)


LINE_RENDERERS: Mapping[str, LineRenderer] = {"github": render_github, "vimgrep": render_vimgrep}
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

    def _build_result(
        self,
        one: LocatedItem,
        located: LocatedPage,
        artifact: dict[str, str],
        citations: dict[str, ItemCitation],
    ) -> dict[str, Any]:
        item, name = one.item, name_finding(one.item)
        if name not in self._indexes:  # the kinds of the model's findings are added as rules
            self._indexes[name] = len(self._rules)
            text = f"Finds {name.replace('_', ' ')} with a language model."
            self._rules.append({"id": name, "shortDescription": {"text": text}})
        region = None
        if located.state == "same":
            region = {
                "startLine": one.start.line,
                "startColumn": one.start.utf16,
                "endLine": one.end.line,
                "endColumn": one.end.utf16,
            }
        result: dict[str, Any] = {
            "ruleId": name,
            "ruleIndex": self._indexes[name],
            "level": _LEVELS[item.s],
            "message": {"text": item.r},
            "locations": [_build_location(artifact, region)],
            "partialFingerprints": {"kebabUid/v1": item.uid},
        }
        if isinstance(item.fix, ItemFix) and region:
            replacement = {"deletedRegion": region, "insertedContent": {"text": item.fix.text}}
            note = item.fix.note if isinstance(item.fix.note, str) else item.r
            change = {"artifactLocation": artifact, "replacements": [replacement]}
            result["fixes"] = [{"description": {"text": note}, "artifactChanges": [change]}]
        cited = citations.get(item.cid) if isinstance(item.cid, str) else None
        if cited is not None and cited.file is not None:
            line = get_line(cited.citation)
            region = None if line is None else {"startLine": line}
            place = _build_location(self._locate_file(cited.file), region)
            result["relatedLocations"] = [{**place, "message": {"text": "the other passage"}}]
        return result

    def render(self, tally: ReviewTally, *, completed: bool = True) -> Iterator[str]:
        """Yield the lines of the log; what was not reviewed is a notification of the tool."""
        notifications = [_notify(one.reason) for one in tally.degraded.values()]
        for text in tally.unanswered:
            first, last = text.lines or (0, 0)
            region = {"startLine": first, "endLine": last} if text.lines else None
            place = _build_location(self._locate_file(text.file), region)
            notifications.append({**_notify(_UNANSWERED), "locations": [place]})
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

    def _locate_file(self, file: str) -> dict[str, str]:
        """Return the address of a file, relative below the working directory."""
        path = Path(file)
        if not path.is_relative_to(self._root):
            return {"uri": path.as_uri()}
        base = f"{self._root.as_uri().rstrip('/')}/"
        return {"uri": path.as_uri().removeprefix(base), "uriBaseId": _ROOT}


def _notify(text: str) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": text}}


def _build_location(artifact: dict[str, str], region: dict[str, int] | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": artifact}
    return {"physicalLocation": physical | ({"region": region} if region else {})}
