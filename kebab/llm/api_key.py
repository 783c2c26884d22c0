"""Defines the API key of a server: its header, and its removal from texts of the server."""

import re
from dataclasses import dataclass, field, replace

from kebab.errors.catalog import ConfigInvalid
from kebab.llm.endpoint import Endpoint

_REDACTED = "[key]"
_SENDABLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_WORD = re.compile(r"[^\s\"'`,;:=|&()\[\]{}<>]+")
_STOP = re.compile(r"[.!?]$")
_MASK = re.compile(r"\*+|\.{2,}|…+|•+|[xX#_-]{4,}")
_MIN_EDGE_CHARS = 4
"""A text of this length that starts or ends the key counts as a part of it."""
_MIN_INNER_CHARS = 8
"""A text of this length from anywhere in the key counts as a part of it."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The API key of a server; empty when the server needs none.

    Args:
        secret: The key itself.
        variable: The environment variable that holds it, for error messages.

    Raises:
        ConfigInvalid: An HTTP header cannot carry it.
    """

    secret: str = field(repr=False)
    variable: str

    def __post_init__(self) -> None:
        if self.secret and not _SENDABLE.fullmatch(self.secret):
            cause = "the key has a space at an end, or a character that an HTTP header cannot carry"
            raise ConfigInvalid(path=f"${self.variable}", cause=cause)

    @property
    def headers(self) -> dict[str, str]:
        """The headers for each request."""
        return {"Authorization": f"Bearer {self.secret}"} if self.secret else {}

    def strip_login(self, endpoint: Endpoint) -> Endpoint:
        """Return the endpoint without its login when there is a key.

        A login in the address would replace the key in the header.
        """
        return replace(endpoint, user_info="") if self.secret else endpoint

    def redact(self, text: str) -> str:
        """Return a text without the key and without parts of it, masked or not."""
        if not self.secret:
            return text
        whole = re.escape(self.secret)
        # A key of a few letters also occurs inside words.
        exact = whole if len(self.secret) >= _MIN_EDGE_CHARS else rf"(?<!\w){whole}(?!\w)"
        rest = re.sub(exact, _REDACTED, text)
        return _WORD.sub(self._redact_word, rest)

    def _redact_word(self, match: re.Match[str]) -> str:
        word = match[0]
        return _REDACTED if self._is_revealing(_STOP.sub("", word)) else word

    def _is_revealing(self, word: str) -> bool:
        least = 1 if _MASK.search(word) else _MIN_EDGE_CHARS
        return any(self._is_part(piece, least) for piece in (word, *_MASK.split(word)))

    def _is_part(self, piece: str, least: int) -> bool:
        """Return whether a piece of a word is a part of the key."""
        if len(piece) >= least and (self.secret.startswith(piece) or self.secret.endswith(piece)):
            return True
        ends = range(_MIN_INNER_CHARS, len(piece) + 1)
        return any(piece[end - _MIN_INNER_CHARS : end] in self.secret for end in ends)


NO_KEY = ApiKey("", "")
