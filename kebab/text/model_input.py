"""Prepares text for a language model: estimates tokens, and escapes markup.

Text of documents is data and never instructions: what imitates the delimiters of the prompt or the
markup of a chat template is escaped.
"""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2s
from itertools import count

from kebab.text.normalize import compile_lazily

_WORD = compile_lazily(r"[A-Z]?[a-z]+")
_SHORT_WORD = 1.1
_SHORT = 5
_LETTER = 0.25
"""The cost of each further letter of a word."""
_LONG = 10
_LONG_LETTER = 0.2
"""The additional cost of each letter of a long word, which is a compound or no word at all."""

_ASCII_WEIGHTS = (
    (0.8, compile_lazily(r"[A-Z](?![a-z])")),
    (1.0, compile_lazily(r"[0-9]")),
    (0.85, compile_lazily(r"[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]")),
    (1.0, compile_lazily(r"\n+|[ \t\r\v\f]{2,}|[ \t](?=[0-9])")),
)
_SCRIPT_WEIGHTS = (
    (1.0, compile_lazily("[\u00a0-\u036f\u2010-\u2027\u3000-\u303f\uff00-\uffef]")),
    (0.6, compile_lazily("[\u0400-\u052f\u1e00-\u1eff]")),
    (0.8, compile_lazily("[\u0590-\u06ff]")),
    (1.2, compile_lazily("[\u0370-\u03ff\u0900-\u097f\u0e00-\u0e7f가-힣]")),
    (0.9, compile_lazily("[\u3040-ヿ]")),
    (1.4, compile_lazily("[\u3400-\u9fff]")),
)
_ASTRAL = compile_lazily("[\U00010000-\U0010ffff]")
"""Emoji and rare characters count twice as other characters."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text; the estimate is rather too high than too low."""
    lengths = Counter(map(len, _WORD.findall(text)))
    cost = sum(
        count
        * (_SHORT_WORD + _LETTER * max(0, length - _SHORT) + _LONG_LETTER * max(0, length - _LONG))
        for length, count in lengths.items()
    )
    cost += sum(weight * len(pattern.findall(text)) for weight, pattern in _ASCII_WEIGHTS)
    return int(cost + (0 if text.isascii() else _estimate_non_ascii(text)) + 0.999)


def _estimate_non_ascii(text: str) -> float:
    counts = [(weight, len(pattern.findall(text))) for weight, pattern in _SCRIPT_WEIGHTS]
    non_ascii = len(text) - len(text.encode("ascii", "ignore"))
    other = non_ascii - sum(count for _, count in counts) + len(_ASTRAL.findall(text))
    return sum(weight * count for weight, count in counts) + 2.5 * other


_LINE_ENDS = compile_lazily(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = compile_lazily(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROLS = compile_lazily("[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\ud800-\udfff]")

_TAGS = (
    "(?:start|end)_of_(?:turn|image|text|utterance)|begin_of_text|endoftext|image_soft_token"
    "|unused[0-9]{1,4}|bos|eos|s|pad|unk|sop|eop|think|tool_call|tool_response"
)
_BRACKET_TAGS = (
    "INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS"
    "|THINK|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|gMASK"
)
_TEMPLATE = compile_lazily(
    r"<(?=/?[|｜][^\s<>]{1,64}>"
    r"|[^\s<>|｜]{1,64}[|｜]>"
    rf"|/?(?:{_TAGS})>|<?/?SYS>>|__\w{{1,32}}__>)"
    rf"|\[(?=/?(?:{_BRACKET_TAGS})\]|\|[^\s\[\]|]{{1,32}}\|\]|img-[0-9]{{1,9}}\])",
    re.ASCII,
)
_DELIMITER = compile_lazily(
    r"[<＜‹〈](?=\s{0,4}/?\s{0,4}(?:evidence|passage|text)\b)", re.IGNORECASE
)


def escape_text(text: str) -> str:
    """Return text that cannot act as markup of a chat template; line breaks and tabs stay."""
    text = _CONTROLS.sub("\ufffd", _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text)))
    return _DELIMITER.sub("(", _TEMPLATE.sub(r"\g<0> ", text))


def wrap_in_delimiters(name: str, text: str, *others: str) -> str:
    """Return a text between tags whose name occurs neither in it nor in the other texts."""
    tag = f"{name}-{build_digest([text, *others])}"
    return f"<{tag}>\n{text}\n</{tag}>"


def build_digest(texts: Sequence[str]) -> str:
    """Return a digest of texts that occurs in none of them."""
    whole = "".join(f"{len(text)}:{text}" for text in texts)
    inputs = (f"{attempt} {whole}".encode() for attempt in count())
    digests = (blake2s(one, digest_size=4).hexdigest() for one in inputs)
    return next(one for one in digests if not any(one in text.lower() for text in texts))
