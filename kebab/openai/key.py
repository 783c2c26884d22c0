"""The key of a server: sent in one header, and taken out of whatever the server says."""

import re
from dataclasses import dataclass, field, replace

from kebab.errors.catalog import ConfigInvalid
from kebab.transport.endpoint import Endpoint

_HIDDEN = "[key]"
_SENDABLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_WORD = re.compile(r"[^\s\"'`,;:=|&()\[\]{}<>]+")
_STOP = re.compile(r"[.!?]$")
_MASK = re.compile(r"\*+|\.{2,}|…+|•+|[xX#_-]{4,}")
_TELLING = 4
"""So many characters of the beginning or the end are a part of the key."""
_TELLING_INSIDE = 8
"""So many characters from anywhere in the key are a part of it."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a server wants to be shown; empty when it wants nothing.

    Args:
        secret: The key.
        variable: Where it comes from, for whoever has to correct it.

    Raises:
        ConfigInvalid: No HTTP header can carry it.
    """

    secret: str = field(repr=False)
    variable: str

    def __post_init__(self) -> None:
        if self.secret and not _SENDABLE.fullmatch(self.secret):
            cause = "the key begins or ends with a space, or holds what no HTTP header can carry"
            raise ConfigInvalid(path=f"${self.variable}", cause=cause)

    @property
    def headers(self) -> dict[str, str]:
        """What is sent with each request."""
        return {"Authorization": f"Bearer {self.secret}"} if self.secret else {}

    def at(self, endpoint: Endpoint) -> Endpoint:
        """Return an endpoint as the key is sent to it.

        A login in the address would take the key's place in the header.
        """
        return replace(endpoint, user_info="") if self.secret else endpoint

    def hidden(self, text: str) -> str:
        """Return a text without the key, whole or in telling parts, masked or not."""
        if not self.secret:
            return text
        whole = re.escape(self.secret)
        # A key of a few letters would be found within words.
        exact = whole if len(self.secret) >= _TELLING else rf"(?<!\w){whole}(?!\w)"
        rest = re.sub(exact, _HIDDEN, text)
        return _WORD.sub(self._shown, rest)

    def _shown(self, match: re.Match[str]) -> str:
        """Return a word of a text, or what stands in its place."""
        word = match[0]
        return _HIDDEN if self._tells(_STOP.sub("", word)) else word

    def _tells(self, word: str) -> bool:
        least = 1 if _MASK.search(word) else _TELLING
        return any(self._part(piece, least) for piece in (word, *_MASK.split(word)))

    def _part(self, piece: str, least: int) -> bool:
        """Return whether a piece of a word comes from the key."""
        if len(piece) >= least and (self.secret.startswith(piece) or self.secret.endswith(piece)):
            return True
        ends = range(_TELLING_INSIDE, len(piece) + 1)
        return any(piece[end - _TELLING_INSIDE : end] in self.secret for end in ends)
