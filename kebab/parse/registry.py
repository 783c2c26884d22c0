"""Which parser takes which media type: the one list of active parsers."""

from collections.abc import Mapping

from kebab.core.ports import Parser
from kebab.parse.markdown import MarkdownParser
from kebab.parse.plain_text import TextParser

PARSERS: Mapping[str, Parser] = {
    "text/markdown": MarkdownParser(),
    "text/plain": TextParser(),
}
"""Every parser by the media type it takes."""


def active() -> list[str]:
    """Return the labels of all parsers, each once, in order."""
    return sorted({parser.version for parser in PARSERS.values()})
