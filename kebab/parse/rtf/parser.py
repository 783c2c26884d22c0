"""Reads files in Rich Text Format (`.rtf`)."""

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.rtf.reader import RtfReader
from kebab.parse.rtf.writer import RtfWriter
from kebab.parse.text_builder import TextBuilder

_MAX_KEYWORDS = 20


class RtfParser:
    """Parses Rich Text Format: headings, lists, tables and footnotes."""

    version = "rtf-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is not in Rich Text Format.
        """
        body = data.lstrip(b"\xef\xbb\xbf\r\n\t \0")
        if not body.startswith(b"{\\rtf"):
            raise ParseFailed(path=path, parser=self.version, cause="not an RTF file")
        builder = TextBuilder()
        writer = RtfWriter(builder)
        RtfReader(body, writer).read()
        info = {name: " ".join(text.split()) for name, text in writer.info.items()}
        keywords = (word.strip() for word in info.get("keywords", "").replace(";", ",").split(","))
        metadata = Metadata(
            title=info["title"] if any(map(str.isalnum, info.get("title", ""))) else None,
            authors=(info["author"],) if info.get("author") else (),
            tags=tuple(dict.fromkeys(filter(None, keywords)))[:_MAX_KEYWORDS],
        )
        return builder.build(path, metadata)
