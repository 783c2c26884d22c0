"""How servers say that a conversation does not fit, and the counts in what they say."""

import re

from kebab.openai.said import Said

_KINDS = {"exceed_context_size_error", "context_length_exceeded"}

_WORDS = re.compile(
    r"exceeds? the available context"
    r"|exceeds? (?:the )?context (?:window|size|length)"
    r"|exceeds? the model's maximum context"
    r"|input length exceeds"
    r"|maximum context length is \d"
    r"|context (?:the )?overflow|overflows? the context"
    r"|greater than the context length"
    r"|longer than the (?:context|model's context|maximum model) length"
    r"|reached context length"
    r"|keep the first \d+ tokens"
    r"|prompt \(\d+ tokens\) is too long"
    r"|tokens.{0,40} must be <= \d+\. given",
    re.IGNORECASE,
)

_PROMPT = (
    re.compile(
        r"(?:request|prompt|input|requested tokens) \((?:length )?(\d{1,9})\b"
        r"|\((\d{1,9}) in the (?:messages|prompt)"
        r"|resulted in (\d{1,9}) tokens"
        r"|(\d{1,9}) (?:input tokens|tokens from the input|`inputs` tokens)"
        r"|n_keep: (\d{1,9})"
        r"|keep the first (\d{1,9}) tokens",
        re.IGNORECASE,
    ),
    re.compile(r"requested (?:a total of )?(\d{1,9}) tokens", re.IGNORECASE),
)
"""Where the length of the prompt stands; in the second one with the answer's."""

_WINDOW = (
    re.compile(
        r"(?:context (?:size|length|window)|model length|n_ctx|limit)"
        r"(?: is| of)?(?: only)?:? \(?(\d{1,9})\b"
        r"|must be <= (\d{1,9})",
        re.IGNORECASE,
    ),
)


def overflown(error: Said) -> bool:
    """Return whether an error says that prompt and answer do not fit the window."""
    return bool(error.kinds & _KINDS) or bool(_WORDS.search(error.text))


def counts(error: Said) -> tuple[int, int]:
    """Return the tokens of the prompt and of the window; 0 for what the error does not tell."""
    return (
        error.prompt_tokens or _first(_PROMPT, error.text),
        error.context_tokens or _first(_WINDOW, error.text),
    )


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int:
    for pattern in patterns:
        if match := pattern.search(text):
            return next(int(number) for number in match.groups() if number)
    return 0
