import stat

import pytest

from kebab.errors.catalog import IoError
from kebab.store.published.manifest import PublisherKey, holds_signature

DIGEST = "ab" * 32


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    path = tmp_path / "config" / "publish.key"
    first, second = (PublisherKey(path, create=True) for _ in range(2))

    assert first.public == second.public
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert holds_signature(first.public, second.sign(DIGEST), DIGEST)


def test_nothing_is_written_unless_asked(tmp_path):
    PublisherKey(tmp_path / "key", create=False)

    assert not list(tmp_path.iterdir())


def test_another_key_another_hash_and_other_bytes_are_no_signature(tmp_path):
    one, other = (PublisherKey(tmp_path / name, create=True) for name in "ab")
    signature = one.sign(DIGEST)

    assert not holds_signature(other.public, signature, DIGEST)
    assert not holds_signature(one.public, signature, "cd" * 32)
    assert not holds_signature(one.public, "zz", DIGEST)
    assert not holds_signature("", signature, DIGEST)


@pytest.mark.parametrize("text", ["", "00", "no hex at all"])
def test_a_file_that_is_no_key_is_refused(tmp_path, text):
    path = tmp_path / "key"
    path.write_text(text)

    with pytest.raises(IoError, match="not the key"):
        PublisherKey(path, create=True)
