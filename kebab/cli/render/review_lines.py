"""Renders the findings of a review as lines for other programs: one finding is one line."""

from collections.abc import Callable, Iterator, Mapping

from kebab.app.review_lines import LocatedItem, LocatedPage
from kebab.cli.render.paths import format_openable_path
from kebab.cli.render.review import ReviewTally, name_rule
from kebab.cli.render.width import clean
from kebab.wire.review import AgentItems, SeverityName

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
