"""Reads web pages that a browser saved as one file (`.mht`, `.mhtml`)."""

from email.message import Message

from kebab.core.documents import ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.html.parser import read_parts
from kebab.parse.mail.message import parse_message, read_header, read_text

_MAX_PARTS = 10_000


class MhtmlParser:
    """Parses a saved page: its first HTML part."""

    version = "mhtml-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The bytes are no saved page.
            DependencyMissing: The HTML parser is not installed.
        """
        message = parse_message(data.lstrip(b"\xef\xbb\xbf\r\n"))
        page = _find_page(message)
        if page is None:
            raise ParseFailed(
                path=path, parser=self.version, cause="not a saved page: it has no HTML"
            )
        text = read_text(page, path, self.version, html=True)
        try:
            parts = read_parts(text)
        except ValueError as fault:
            raise ParseFailed(path=path, parser=self.version, cause=f"damaged: {fault}") from fault
        return parts.builder.build(
            path,
            parts.metadata,
            title=read_header(message, "subject"),
            warnings=parts.warnings,
            links=parts.links,
        )


def _find_page(message: Message) -> Message | None:
    """Return the first HTML part."""
    for number, part in enumerate(message.walk()):
        if number >= _MAX_PARTS:
            break
        if part.get_content_type() in {"text/html", "application/xhtml+xml"}:
            return part
    return None
