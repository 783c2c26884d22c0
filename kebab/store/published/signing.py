"""Signs the manifests of published bases, and checks their signatures (Ed25519)."""

import os
from pathlib import Path

from kebab.core.durable import create_folder, replace_file
from kebab.errors.system import build_read_error, translate_import_errors, translate_os_errors
from kebab.store.published.objects import EXTRA, FEATURE

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
