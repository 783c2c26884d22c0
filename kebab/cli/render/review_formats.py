"""Renders the findings of a review for other programs: one per line, or as SARIF 2.1.0.

SARIF is the Static Analysis Results Interchange Format.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kebab import __version__
from kebab.app.review_text import LocatedPage
from kebab.cli.render.canvas import clean
from kebab.cli.render.compact import format_openable_path
from kebab.cli.render.review import ReviewTally
from kebab.review.selection import name_finding
from kebab.wire.review import AgentItem, AgentItems, ReviewRule, SeverityName

_UNANSWERED = "the language model did not review this"


def render_positions(page: AgentItems, located: LocatedPage) -> Iterator[str]:
    """Yield `path:line:column: severity: message [rule]`; the column counts characters."""
    assert page.document is not None, "items have a document"
    path = clean(format_openable_path(page.document.file, page.document.doc_path))
    for one in located.items:
        place = f"{path}:{one.start.line}:{one.start.column}"
        yield f"{place}: {one.item.s}: {clean(one.item.r)} [{name_finding(one.item)}]"


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
                "defaultConfiguration": {"level": _LEVELS[rule.severity], "enabled": rule.enabled},
            }
            for rule in rules
        ]
        self._indexes = {rule.id: index for index, rule in enumerate(rules)}
        self._results: list[dict[str, Any]] = []

    def add(self, page: AgentItems, located: LocatedPage) -> None:
        """Add the findings of a page."""
        for one in located.items:
            assert page.document is not None, "items have a document"
            region = None
            if located.state == "same":
                region = {
                    "startLine": one.start.line,
                    "startColumn": one.start.utf16,
                    "endLine": one.end.line,
                    "endColumn": one.end.utf16,
                }
            place = _build_location(self._locate_file(page.document.file), region)
            self._results.append(self._build_result(one.item, place))

    def _build_result(self, item: AgentItem, place: dict[str, Any]) -> dict[str, Any]:
        name = name_finding(item)
        if name not in self._indexes:  # the kinds of the model's findings are added as rules
            self._indexes[name] = len(self._rules)
            text = f"Finds {name.replace('_', ' ')} with a language model."
            self._rules.append({"id": name, "shortDescription": {"text": text}})
        return {
            "ruleId": name,
            "ruleIndex": self._indexes[name],
            "level": _LEVELS[item.s],
            "message": {"text": item.r},
            "locations": [place],
            "partialFingerprints": {"kebabUid/v1": item.uid},
        }

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
