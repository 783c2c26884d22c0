"""Declares the reply of opening a file."""

from kebab.wire.record import Reply


class OpenReport(Reply, frozen=True, kw_only=True, tag="open_report.v1"):
    """The file that `open` found, and the command that opens it."""

    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document below its source."""
    file: str
    """The absolute path of the file."""
    line: int
    """The line to open it at, from 1; 1 for a file without lines."""
    command_line: list[str]
    """The program and its arguments."""
    ran: bool
    """Whether the command was run; false with `--print`."""
    page: int | None = None
    """The page to open it at, from 1; null for a file without pages."""
