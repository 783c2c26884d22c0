"""Prepares text of documents for a prompt, where it is data and never instructions.

Text that imitates the delimiters of the prompt or the markup of a chat template is escaped.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2s
from itertools import count

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
    r"[<\uff1c\u2039\u3008](?=\s{0,4}/?\s{0,4}(?:evidence|passage|text)\b)", re.IGNORECASE
)


def escape_text(text: str) -> str:
    """Return text that cannot act as markup of a chat template; line breaks and tabs stay."""
    text = _CONTROLS.sub("\ufffd", _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text)))
    return _DELIMITER.sub("(", _TEMPLATE.sub(r"\g<0> ", text))


def wrap_in_delimiters(name: str, text: str, *others: str) -> str:
    """Return a text between tags whose name occurs neither in it nor in the other texts."""
    tag = f"{name}-{build_digest([text, *others])}"
    return f"<{tag}>\n{text}\n</{tag}>"


def find_unused_digest(digests: Iterable[str], texts: Sequence[str]) -> str:
    """Return the first digest that occurs in none of the texts, in either case."""
    return next(digest for digest in digests if not any(digest in text.lower() for text in texts))


def build_digest(texts: Sequence[str]) -> str:
    """Return a digest of texts that occurs in none of them."""
    whole = "".join(f"{len(text)}:{text}" for text in texts)
    inputs = (f"{attempt} {whole}".encode() for attempt in count())
    digests = (blake2s(one, digest_size=4).hexdigest() for one in inputs)
    return find_unused_digest(digests, texts)
