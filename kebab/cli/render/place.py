"""Where a passage stands, as a person reads it and as a terminal opens it."""

from pathlib import Path

from kebab.cli.render.clean import clean
from kebab.wire.citation import (
    CellCitation,
    Citation,
    CodeCitation,
    LineCitation,
    PageCitation,
    SectionCitation,
    SlideCitation,
)


def spot(citation: Citation) -> str:
    """Return a place as `path:line`, or with its page, slide, cell or section."""
    return clean(citation.path) + _detail(citation)


def stretch(citation: Citation) -> str:
    """Return a place as `path:first-last`; where there are no lines, as `spot` does."""
    match citation:
        case LineCitation(line=lines) | CodeCitation(code=lines) if lines.end > lines.start:
            return f"{clean(citation.path)}:{lines.start}-{lines.end}"
        case _:
            return spot(citation)


def _detail(citation: Citation) -> str:
    match citation:
        case LineCitation():
            return f":{citation.line.start}"
        case CodeCitation():
            return f":{citation.code.start}"
        case PageCitation():
            return f" p. {citation.page.number}"
        case SlideCitation():
            return f" slide {citation.slide.number}"
        case CellCitation():
            return f" cell {citation.cell.index}"
        case SectionCitation():
            return f" § {clean(citation.section.title)}"


def file_uri(file: str | None) -> str | None:
    """Return the link to a file, None when there is no absolute path or it cannot be one."""
    if file is None:
        return None
    try:
        return Path(file).as_uri()
    except (ValueError, UnicodeEncodeError):
        return None
