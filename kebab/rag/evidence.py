"""Fences passages as evidence, and escapes text that imitates the fence."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2s
from itertools import count

from kebab.core.answers import Evidence, Quote
from kebab.rag.tokens import estimate_tokens

_ENDS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\ud800-\udfff]")

_TAGS = (
    "(?:start|end)_of_(?:turn|image|text|utterance)|begin_of_text|endoftext|image_soft_token"
    "|unused[0-9]{1,4}|bos|eos|s|pad|unk|sop|eop|think|tool_call|tool_response"
)
_BRACKETS = (
    "INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS"
    "|THINK|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|gMASK"
)
_TEMPLATE = re.compile(
    r"<(?=/?[|\uff5c][^\s<>]{1,64}>"
    r"|[^\s<>|\uff5c]{1,64}[|\uff5c]>"
    rf"|/?(?:{_TAGS})>|<?/?SYS>>|__\w{{1,32}}__>)"
    rf"|\[(?=/?(?:{_BRACKETS})\]|\|[^\s\[\]|]{{1,32}}\|\]|img-[0-9]{{1,9}}\])",
    re.ASCII,
)
_FRAME = re.compile(
    r"[<\uff1c\u2039\u3008](?=\s{0,4}/?\s{0,4}(?:evidence|passage)\b)", re.IGNORECASE
)
_MARKERS = re.compile(
    r"(?<![A-Za-z0-9_)\]])(?:\[[#^]?[0-9]{1,3}\])+|(?:\u3010[#^]?[0-9]{1,3}\u3011)+"
)
_BRACKET = str.maketrans("[]\u3010\u3011", "()()")
_SPACES = re.compile(r"\s+")


def escape_text(text: str) -> str:
    """Return text that cannot steer a model's template; lines and tabs stay."""
    text = _CONTROLS.sub("\ufffd", _UNSEEN.sub("", _ENDS.sub("\n", text)))
    return _FRAME.sub("(", _TEMPLATE.sub(r"\g<0> ", text))


def escape_evidence(text: str) -> str:
    """Return a passage's text, whose own `[1]` cannot be taken for markers of citations either."""
    return _MARKERS.sub(lambda found: found[0].translate(_BRACKET), escape_text(text))


def escape_line(text: str, limit: int) -> str:
    """Return text on one line of at most `limit` characters."""
    line = _SPACES.sub(" ", escape_evidence(text[: 4 * limit])).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "\u2026"


_PLACE = 80
"""The most characters of a title, of a heading and of a path's end."""
_HEADINGS = 3
_COSTLY = "00000000"


def wrap_in_delimiters(name: str, text: str, *others: str) -> str:
    """Return a text inside a fence whose tag occurs neither in it nor in others."""
    tag = f"{name}-{_digest([text, *others])}"
    return f"<{tag}>\n{text}\n</{tag}>"


def format_evidence(passages: Sequence[Evidence], question: str) -> tuple[str, str]:
    """Return the name of the fence and the passages inside it, in their order."""
    shown = [_shown(passage) for passage in passages]
    texts = [part for pair in shown for part in pair]
    digest = _digest([*texts, question])
    blocks = [
        _block(passage.marker, pair, digest) for passage, pair in zip(passages, shown, strict=True)
    ]
    name = f"evidence-{digest}"
    return name, "\n".join([f"<{name}>", *blocks, f"</{name}>"])


def estimate_evidence_tokens(passage: Evidence) -> int:
    """Return the tokens of a passage with its frame."""
    return estimate_tokens(_block(passage.marker, _shown(passage), _COSTLY)) + 1


def estimate_escaped_tokens(text: str) -> int:
    """Return the tokens of a passage's text as it is shown."""
    return estimate_tokens(escape_evidence(text))


def _block(marker: int, shown: tuple[str, str], digest: str) -> str:
    place, text = shown
    return f"<passage-{digest} [{marker}]>\nFrom: {place}\n{text}\n</passage-{digest}>"


def _shown(passage: Evidence) -> tuple[str, str]:
    """Return where a passage stands, and its text."""
    return _place(passage), escape_evidence(passage.text)


def _place(passage: Evidence) -> str:
    """Return title, headings, path and lines of a passage."""
    chunk = passage.chunk
    path = chunk.path if len(chunk.path) <= _PLACE else "\u2026" + chunk.path[1 - _PLACE :]
    first, last = Quote(
        chunk=chunk, start=passage.start, end=passage.start + len(passage.text.rstrip())
    ).lines
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"{_headings(passage)} ({escape_line(path, _PLACE)}, {lines})".lstrip()


def _headings(passage: Evidence) -> str:
    """Return the title and the innermost headings; a title that is a heading too is said once."""
    chunk = passage.chunk
    path = (
        chunk.heading_path[1:] if chunk.heading_path[:1] == (chunk.title,) else chunk.heading_path
    )
    parts = (chunk.title, *path[-_HEADINGS:])
    return " > ".join(escape_line(part, _PLACE) for part in parts if part.strip())


def find_unused_digest(digests: Iterable[str], texts: Sequence[str]) -> str:
    """Return the first digest that occurs in none of the texts, in capitals neither."""
    return next(one for one in digests if not any(one in text.lower() for text in texts))


def _digest(texts: Sequence[str]) -> str:
    """Return a digest of texts that occurs in none of them."""
    whole = "".join(f"{len(text)}:{text}" for text in texts)
    tries = (f"{attempt} {whole}".encode() for attempt in count())
    return find_unused_digest((blake2s(one, digest_size=4).hexdigest() for one in tries), texts)
