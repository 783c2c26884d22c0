"""Reads reStructuredText, as docutils and Sphinx define it.

Nothing is included, run or fetched: a directive is a range of lines, and a role is a word.
"""

import re
from collections.abc import Iterator

from kebab.core.documents import ParsedDocument
from kebab.parse.blocks import build_line_document
from kebab.parse.encoding import decode
from kebab.parse.markup.lines import read_metadata
from kebab.parse.markup.rst_directives import RstScanner

_HEAD_COMMENT = re.compile(r"\.\. ([a-z]+): +(\S.*)")
_ROLE_LINK = re.compile(r":(?:doc|download):`(?:[^`<>]{0,400}<)?!?([^`<>\n]{1,400})>?`")
_TEXT_LINK = re.compile(r"`[^`<>]{0,400}<([^`<>\s]{1,400})>`_")
_FOREIGN = re.compile(r"[a-z][a-z0-9+.-]*:|#|//|.*_\Z", re.IGNORECASE)


class RstParser:
    """Parses reStructuredText by its lines."""

    version = "rst-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its bibliographic fields as metadata.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        scanner = RstScanner(decoded.text)
        scanner.scan()
        fields = {**_read_head_comments(decoded.text), **scanner.fields}
        links = (*scanner.links, *_find_inline_links(decoded.text))
        return build_line_document(decoded, path, scanner.spans, read_metadata(fields), links)


def _read_head_comments(text: str) -> dict[str, str]:
    """Return the fields of comments at the start, `.. title: A page`, as Nikola writes them."""
    fields = {}
    for line in text[:4096].lstrip().split("\n"):
        match = _HEAD_COMMENT.match(line)
        if match is None:
            break
        fields[match[1]] = match[2].strip()
    return fields


def _find_inline_links(text: str) -> Iterator[str]:
    """Yield the targets of links in paragraphs to other files."""
    if "`" not in text:
        return
    for pattern in (_ROLE_LINK, _TEXT_LINK):
        for match in pattern.finditer(text):
            target = match[1].strip()
            if target and not _FOREIGN.match(target):
                yield target
