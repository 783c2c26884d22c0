"""Encodes and decodes the cursors of pages of hits."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict
from hashlib import blake2b
from struct import Struct

from kebab.core.queries import Query
from kebab.errors.catalog import InvalidCursor, StaleCursor

_VERSION = 1
_BODY = Struct(">BQQ16s")
_SIGNATURE = 16
_UNBOUND_FIELDS = frozenset({"limit", "offset", "detail", "snippet_chars", "max_tokens", "trace"})


def encode_cursor(query: Query, offset: int, revision: int, salt: str) -> str:
    """Return the cursor of the page that starts at an offset."""
    body = _BODY.pack(_VERSION, offset, revision, _compute_fingerprint(query))
    return urlsafe_b64encode(body + _compute_signature(body, salt)).decode().rstrip("=")


def decode_cursor(cursor: str, query: Query, revision: int, salt: str) -> int:
    """Return the offset of a cursor.

    Raises:
        InvalidCursor: The cursor is not of this library, or belongs to another query.
        StaleCursor: The index has changed since the cursor was issued.
    """
    raw = _decode_bytes(cursor)
    body, signature = raw[: _BODY.size], raw[_BODY.size :]
    if len(raw) != _BODY.size + _SIGNATURE or not hmac.compare_digest(
        _compute_signature(body, salt), signature
    ):
        raise InvalidCursor(cause="it was not issued by this knowledge base")
    version, offset, issued, fingerprint = _BODY.unpack(body)
    if version != _VERSION:
        raise InvalidCursor(cause="it was issued by another version of kebab")
    if fingerprint != _compute_fingerprint(query):
        raise InvalidCursor(cause="it belongs to another query")
    if issued != revision:
        raise StaleCursor(issued_revision=issued, current_revision=revision)
    return int(offset)


def _decode_bytes(cursor: str) -> bytes:
    """Return the bytes of a cursor that is spelled exactly as `encode_cursor` spells it."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
    except ValueError as error:
        raise InvalidCursor(cause="it is not a cursor") from error
    if urlsafe_b64encode(raw).decode().rstrip("=") != cursor:
        raise InvalidCursor(cause="it is not a cursor")
    return raw


def _compute_signature(body: bytes, salt: str) -> bytes:
    return hmac.digest(salt.encode("utf-8", "surrogatepass"), body, "sha256")[:_SIGNATURE]


def _compute_fingerprint(query: Query) -> bytes:
    """Return a digest of the fields that determine the order of hits."""
    bound = {name: value for name, value in asdict(query).items() if name not in _UNBOUND_FIELDS}
    return blake2b(
        repr(sorted(bound.items())).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()
