"""Which parser takes which media type: the one list of active parsers."""

from collections.abc import Mapping

from kebab.core.ports import Parser
from kebab.parse.markdown import MarkdownParser
from kebab.parse.text import TextParser

PARSERS: Mapping[str, Parser] = {
    "text/markdown": MarkdownParser(),
    "text/plain": TextParser(),
}
"""Every parser by the media types it takes."""
"""Every parser by its media type."""


def parser_for(media: str) -> Parser | None:
    """Return the parser of a media type, or None when there is none."""
    return PARSERS.get(media)


def active() -> list[str]:
    """Return the labels of all parsers, each once, in order."""
    return sorted({parser.version for parser in PARSERS.values()})
