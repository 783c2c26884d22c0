"""Masks the keys and passwords in what an operation replies; `Kebab.run` calls it for all surfaces.

The text of a passage is masked before a snippet is cut from it, because a part of a key may not
look like one. Fields that name things, such as paths, ids and cursors, stay as they are, and so
does what the caller has sent.
"""

import operator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from kebab.text.normalize import split_names
from kebab.text.secrets import MASK, mask_secrets
from kebab.wire.record import Reply
from kebab.wire.search import SearchHit

if TYPE_CHECKING:
    from kebab.core.queries import StoredChunk

R = TypeVar("R", bound=Reply)

_EXACT_FIELDS = split_names(
    "backup chunk_id cid citation command correlation_id coverage cursor doc_id doc_path error file"
    " files folder freshness highlights hint lang media name names next_chunk_id next_cursor path"
    " paths pattern previous_chunk_id queries query question ref refs rest retrieval run_id source"
    " sources spans text_hash text_highlights timestamp trace_id uid uri usage"
)
_SHORTEST = 10
"""A shorter text holds no secret."""


class SecretMask:
    """Masks the secrets of one call at a time."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = self._active = enabled
        self._changed = False
        """Whether a text of this call was masked, shown or not."""
        self._shown = False
        """Whether a text of the reply has characters of a mask."""

    def begin(self, *, exact: bool) -> None:
        """Begin a call; an `exact` one shows text as it is."""
        self._active = self._enabled and not exact
        self._changed = self._shown = False

    def mask_text(self, text: str) -> str:
        """Return a text without its secrets."""
        if not self._active or len(text) < _SHORTEST:
            return text
        masked = mask_secrets(text)
        self._changed = self._changed or masked is not text
        return masked

    def mask_chunk(self, chunk: "StoredChunk") -> "StoredChunk":
        """Return a chunk without secrets in its text, from which snippets and answers are made."""
        text, context = self.mask_text(chunk.text), self.mask_text(chunk.context)
        is_same = text is chunk.text and context is chunk.context
        return chunk if is_same else chunk._replace(text=text, context=context)

    def mask_reply(self, reply: R) -> R:
        """Return a reply without its secrets, which says if there were any."""
        masked = self.mask_event(reply)
        if self._changed and self._shown:
            masked = msgspec.structs.replace(masked, masked=True)
        return masked

    def mask_event(self, event: R) -> R:
        """Return an event without its secrets."""
        masked: R = self._mask(event) if self._active else event
        return masked

    def _mask(self, value: Any) -> Any:
        """Return a value without secrets, the same one if it has none."""
        if isinstance(value, str):
            text = self.mask_text(value)
            self._shown = self._shown or MASK in text
            return text
        if isinstance(value, list):
            new = [self._mask(one) for one in value]
            return value if all(map(operator.is_, new, value)) else new
        if isinstance(value, dict):
            fields = {self._mask(name): self._mask(one) for name, one in value.items()}
            return value if fields == value else fields
        if isinstance(value, Struct):
            if isinstance(value, SearchHit) and not self._changed:
                names = "\n".join((value.title, *value.heading_path))
                if self.mask_text(names) is names:  # its texts are cut from masked chunks
                    return value
            changes = {
                name: new
                for name in _list_text_fields(type(value))
                if (new := self._mask(old := getattr(value, name))) is not old
            }
            return msgspec.structs.replace(value, **changes) if changes else value
        return value


@cache
def _list_text_fields(kind: type[Struct]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in _EXACT_FIELDS)
