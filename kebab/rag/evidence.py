"""Formats evidence for a prompt, and escapes text that imitates its delimiters."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2s
from itertools import count

from kebab.core.answers import Evidence, Quote
from kebab.rag.tokens import estimate_tokens

_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\ud800-\udfff]")

_TAGS = (
    "(?:start|end)_of_(?:turn|image|text|utterance)|begin_of_text|endoftext|image_soft_token"
    "|unused[0-9]{1,4}|bos|eos|s|pad|unk|sop|eop|think|tool_call|tool_response"
)
_BRACKET_TAGS = (
    "INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS"
    "|THINK|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|gMASK"
)
_TEMPLATE = re.compile(
    r"<(?=/?[|\uff5c][^\s<>]{1,64}>"
    r"|[^\s<>|\uff5c]{1,64}[|\uff5c]>"
    rf"|/?(?:{_TAGS})>|<?/?SYS>>|__\w{{1,32}}__>)"
    rf"|\[(?=/?(?:{_BRACKET_TAGS})\]|\|[^\s\[\]|]{{1,32}}\|\]|img-[0-9]{{1,9}}\])",
    re.ASCII,
)
_DELIMITER = re.compile(
    r"[<\uff1c\u2039\u3008](?=\s{0,4}/?\s{0,4}(?:evidence|passage)\b)", re.IGNORECASE
)
_MARKERS = re.compile(
    r"(?<![A-Za-z0-9_)\]])(?:\[[#^]?[0-9]{1,3}\])+|(?:\u3010[#^]?[0-9]{1,3}\u3011)+"
)
_TO_PARENTHESES = str.maketrans("[]\u3010\u3011", "()()")
_SPACES = re.compile(r"\s+")


def escape_text(text: str) -> str:
    """Return text that cannot act as markup of a chat template; line breaks and tabs stay."""
    text = _CONTROLS.sub("\ufffd", _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text)))
    return _DELIMITER.sub("(", _TEMPLATE.sub(r"\g<0> ", text))


def escape_evidence(text: str) -> str:
    """Return escaped text whose own `[1]` cannot be read as citation markers either."""
    return _MARKERS.sub(lambda found: found[0].translate(_TO_PARENTHESES), escape_text(text))


def escape_line(text: str, limit: int) -> str:
    """Return escaped text on one line of at most `limit` characters."""
    line = _SPACES.sub(" ", escape_evidence(text[: 4 * limit])).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "\u2026"


_MAX_LINE = 80
"""The most characters of a title, of a heading and of a path."""
_MAX_HEADINGS = 3
_PLACEHOLDER_DIGEST = "00000000"


def wrap_in_delimiters(name: str, text: str, *others: str) -> str:
    """Return a text between tags whose name occurs neither in it nor in the other texts."""
    tag = f"{name}-{_build_digest([text, *others])}"
    return f"<{tag}>\n{text}\n</{tag}>"


def format_evidence(passages: Sequence[Evidence], question: str) -> tuple[str, str]:
    """Return the name of the enclosing tag, and the passages inside it in their order."""
    parts = [(_describe_location(one), escape_evidence(one.text)) for one in passages]
    digest = _build_digest([*(text for pair in parts for text in pair), question])
    blocks = [
        _format_block(passage.marker, *pair, digest)
        for passage, pair in zip(passages, parts, strict=True)
    ]
    name = f"evidence-{digest}"
    return name, "\n".join([f"<{name}>", *blocks, f"</{name}>"])


def estimate_evidence_tokens(passage: Evidence) -> int:
    """Estimate the tokens of a passage with its tags."""
    location, text = _describe_location(passage), escape_evidence(passage.text)
    return estimate_tokens(_format_block(passage.marker, location, text, _PLACEHOLDER_DIGEST)) + 1


def estimate_escaped_tokens(text: str) -> int:
    """Estimate the tokens of a passage's text after escaping."""
    return estimate_tokens(escape_evidence(text))


def _format_block(marker: int, location: str, text: str, digest: str) -> str:
    return f"<passage-{digest} [{marker}]>\nFrom: {location}\n{text}\n</passage-{digest}>"


def _describe_location(passage: Evidence) -> str:
    """Return title, headings, path and lines of a passage."""
    chunk = passage.chunk
    path = chunk.path if len(chunk.path) <= _MAX_LINE else "\u2026" + chunk.path[1 - _MAX_LINE :]
    end = passage.start + len(passage.text.rstrip())
    first, last = Quote(chunk=chunk, start=passage.start, end=end).lines
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    # A title that is also the first heading stands once.
    skip = int(chunk.heading_path[:1] == (chunk.title,))
    parts = (chunk.title, *chunk.heading_path[skip:][-_MAX_HEADINGS:])
    headings = " > ".join(escape_line(part, _MAX_LINE) for part in parts if part.strip())
    return f"{headings} ({escape_line(path, _MAX_LINE)}, {lines})".lstrip()


def find_unused_digest(digests: Iterable[str], texts: Sequence[str]) -> str:
    """Return the first digest that occurs in none of the texts, in either case."""
    return next(one for one in digests if not any(one in text.lower() for text in texts))


def _build_digest(texts: Sequence[str]) -> str:
    """Return a digest of texts that occurs in none of them."""
    whole = "".join(f"{len(text)}:{text}" for text in texts)
    inputs = (f"{attempt} {whole}".encode() for attempt in count())
    digests = (blake2s(one, digest_size=4).hexdigest() for one in inputs)
    return find_unused_digest(digests, texts)
