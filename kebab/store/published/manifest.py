"""Reads, checks and signs (Ed25519) the manifests of published bases."""

import os
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from kebab.core.durable import create_folder, replace_file
from kebab.errors.catalog import IoError, Locked, NotIndexed
from kebab.errors.system import build_read_error, translate_import_errors, translate_os_errors
from kebab.store.published.objects import EXTRA, FEATURE, ObjectStore, Versioned
from kebab.store.published.packs import (
    CURRENT,
    FORMAT_VERSION,
    MANIFESTS,
    PACKS,
    Contents,
    build_damage,
    check_object,
    decode_contents,
    is_object_name,
)
from kebab.wire.published import PublishedCurrent, PublishedManifest

_PURPOSE = b"kebab published base 1\n"
"""What is signed besides the hash, so that no signature of another program fits."""
_KEY_BYTES = 32


class PublisherKey:
    """The key of a publisher: a file with 64 hexadecimal digits that only its owner can read."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Read the key; make one when there is none, if asked to.

        Raises:
            IoError: The file cannot be read or written, or is no key.
            DependencyMissing: The extra is not installed.
        """
        with translate_import_errors(FEATURE, "cryptography", EXTRA):
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        with translate_os_errors(path, "read"):
            text = path.read_text(encoding="utf-8").strip() if path.exists() else ""
        if not text and not path.exists():
            text = os.urandom(_KEY_BYTES).hex()
            if create:
                with translate_os_errors(path, "create"):
                    create_folder(path.parent, 0o700)
                    with replace_file(path, 0o600) as draft:
                        draft.write(f"{text}\n".encode())
        try:
            secret = bytes.fromhex(text)
            self._key = Ed25519PrivateKey.from_private_bytes(secret)
        except ValueError as fault:
            raise build_read_error(path, "it is not the key of a publisher") from fault

    @property
    def public(self) -> str:
        """The public key, in hex."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, digest: str) -> str:
        """Return the signature of the hash of a manifest, in hex."""
        return self._key.sign(_PURPOSE + digest.encode()).hex()


def holds_signature(public: str, signature: str, digest: str) -> bool:
    """Return whether the owner of a public key has signed the hash of a manifest."""
    with translate_import_errors(FEATURE, "cryptography", EXTRA):
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), _PURPOSE + digest.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


R = TypeVar("R")


class Pointer(NamedTuple):
    """The current pointer of a base, and the version of the object that holds it."""

    current: PublishedCurrent
    version: Versioned


def read_pointer(store: ObjectStore, key: str | None) -> Pointer | None:
    """Return which snapshot is current; None where nothing is published.

    Raises:
        StoreCorrupt: It cannot be read, or the owner of another key, or nobody, has signed it.
        NotIndexed: A newer kebab published it.
        IoError: The store refused.
    """
    found = store.read_version(CURRENT)
    if found is None:
        return None
    address = store.describe(CURRENT)
    current = _decode(found.data, PublishedCurrent, address)
    if key is not None and current.public_key != key:
        cause = f"another key signs it now: {current.public_key}, pinned is {key}"
        raise build_damage(address, cause)
    if not is_object_name(current.manifest) or not holds_signature(
        current.public_key, current.signature, current.manifest
    ):
        raise build_damage(address, "its signature is wrong")
    return Pointer(current, found)


def write_pointer(store: ObjectStore, current: PublishedCurrent, before: Versioned | None) -> None:
    """Make a snapshot the current one.

    Raises:
        Locked: Another publisher has done so since `before` was read.
        IoError: The store refused.
    """
    if not store.replace(CURRENT, msgspec.json.encode(current), before):
        raise Locked(path=store.describe(CURRENT), holder_pid=None)


def read_manifest(store: ObjectStore, digest: str) -> PublishedManifest:
    """Return the manifest of a hash; raises what `read_pointer` raises."""
    name = f"{MANIFESTS}/{digest}.json"
    raw = check_object(store.read(name), digest, store.describe(name))
    manifest = _decode(raw, PublishedManifest, store.describe(name))
    if not all(is_object_name(one.sha256) for one in (manifest.contents, *manifest.packs)):
        raise build_damage(store.describe(name), "it names no objects")
    return manifest


def read_contents(store: ObjectStore, manifest: PublishedManifest) -> Contents:
    """Return where the items of a snapshot are; raises what `read_pointer` raises."""
    name = f"{PACKS}/{manifest.contents.sha256}"
    address = store.describe(name)
    raw = check_object(store.read(name), manifest.contents.sha256, address)
    contents = decode_contents(raw, address)
    if contents.packs != [one.sha256 for one in manifest.packs]:
        raise build_damage(address, "it has other packs than the manifest")
    return contents


def measure_base(address: str, key: str | None) -> int:
    """Return the size of the current snapshot of a base; raises what `read_pointer` raises.

    Raises:
        IoError: Nothing is published there.
    """
    store = ObjectStore(address)
    found = read_pointer(store, key)
    if found is None:
        raise IoError(path=store.describe(CURRENT), op="read", cause="nothing is published there")
    return sum(one.bytes for one in read_manifest(store, found.current.manifest).packs)


class _Format(msgspec.Struct, frozen=True):
    """The part of these objects that every version of the format has."""

    format_version: int


def _decode(raw: bytes, record: type[R], address: str) -> R:
    try:
        version = msgspec.json.decode(raw, type=_Format).format_version
        if version > FORMAT_VERSION:
            raise NotIndexed(data_dir=address, expected=FORMAT_VERSION, found=version, file=address)
        return msgspec.json.decode(raw, type=record)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise build_damage(address, "it cannot be read") from fault
