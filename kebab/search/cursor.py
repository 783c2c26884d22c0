"""Cursors: where the next page of one search begins, opaque and authenticated.

A cursor holds an offset, the revision it was issued at and a digest of everything that decides the
order of hits; the page size is free. It is signed with a salt that belongs to the knowledge base.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict
from hashlib import blake2b
from struct import Struct

from kebab.core.query import Query
from kebab.errors.catalog import InvalidCursor, StaleCursor

_VERSION = 1
_BODY = Struct(">BQQ16s")
_SIGNATURE = 16
_FREE = frozenset({"limit", "offset", "snippet_chars", "max_tokens", "trace"})


def encode(query: Query, offset: int, revision: int, salt: str) -> str:
    """Return the cursor of the page that begins at an offset."""
    body = _BODY.pack(_VERSION, offset, revision, _fingerprint(query))
    return urlsafe_b64encode(body + _sign(body, salt)).decode().rstrip("=")


def decode(cursor: str, query: Query, revision: int, salt: str) -> int:
    """Return the offset that a cursor stands for.

    Raises:
        InvalidCursor: The cursor is not one of this knowledge base, or is for another query.
        StaleCursor: The index has changed since.
    """
    raw = _raw(cursor)
    body, signature = raw[: _BODY.size], raw[_BODY.size :]
    if len(raw) != _BODY.size + _SIGNATURE or not hmac.compare_digest(_sign(body, salt), signature):
        raise InvalidCursor(cause="it was not issued by this knowledge base")
    version, offset, issued, fingerprint = _BODY.unpack(body)
    if version != _VERSION:
        raise InvalidCursor(cause="it was issued by another version of kebab")
    if fingerprint != _fingerprint(query):
        raise InvalidCursor(cause="it belongs to another query")
    if issued != revision:
        raise StaleCursor(issued_revision=issued, current_revision=revision)
    return int(offset)


def _raw(cursor: str) -> bytes:
    """Return the bytes of a cursor; only the spelling that `encode` gives is taken."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
    except ValueError as error:
        raise InvalidCursor(cause="it is not a cursor") from error
    if urlsafe_b64encode(raw).decode().rstrip("=") != cursor:
        raise InvalidCursor(cause="it is not a cursor")
    return raw


def _sign(body: bytes, salt: str) -> bytes:
    return hmac.digest(salt.encode("utf-8", "surrogatepass"), body, "sha256")[:_SIGNATURE]


def _fingerprint(query: Query) -> bytes:
    """Return a digest of what decides the order of hits."""
    bound = {name: value for name, value in asdict(query).items() if name not in _FREE}
    return blake2b(
        repr(sorted(bound.items())).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()
