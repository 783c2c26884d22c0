"""Text of others made harmless inside a prompt: it hides nothing and cannot pose as the frame.

Only what a model is shown changes, never what is quoted. A server turns template tokens into their
special meaning wherever they stand in a prompt, and some look for placeholders of images, so each
gets a blank that breaks it and leaves it legible.
"""

import re

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


def defused(text: str) -> str:
    """Return text that cannot steer a model's template; lines and tabs stay."""
    text = _CONTROLS.sub("\ufffd", _UNSEEN.sub("", _ENDS.sub("\n", text)))
    return _FRAME.sub("(", _TEMPLATE.sub(r"\g<0> ", text))


def defused_evidence(text: str) -> str:
    """Return a passage's text, whose own `[1]` cannot be taken for markers of citations either."""
    return _MARKERS.sub(lambda found: found[0].translate(_BRACKET), defused(text))


def defused_line(text: str, limit: int) -> str:
    """Return text on one line of at most `limit` characters."""
    line = _SPACES.sub(" ", defused_evidence(text[: 4 * limit])).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "\u2026"
