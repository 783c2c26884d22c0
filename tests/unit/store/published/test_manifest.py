import msgspec
import pytest

from kebab.errors.catalog import Locked, NotIndexed, StoreCorrupt
from kebab.store.published.manifest import PublisherKey, read_manifest, read_pointer, write_pointer
from kebab.store.published.objects import ObjectStore
from kebab.store.published.packs import name_object
from kebab.wire.published import PublishedCurrent

DIGEST = name_object(b"a manifest")


@pytest.fixture
def store(tmp_path):
    return ObjectStore(str(tmp_path / "base"))


@pytest.fixture
def key(tmp_path):
    return PublisherKey(tmp_path / "key", create=True)


def _build(key, **fields):
    values = {
        "format_version": 1,
        "manifest": DIGEST,
        "public_key": key.public,
        "signature": key.sign(DIGEST),
    }
    return PublishedCurrent(**{**values, **fields})


def test_the_pointer_that_was_written_is_read(store, key):
    assert read_pointer(store, None) is None
    write_pointer(store, _build(key), None)
    found = read_pointer(store, key.public)

    assert found is not None
    assert found.current.manifest == DIGEST
    write_pointer(store, _build(key), found.version)
    with pytest.raises(Locked):
        write_pointer(store, _build(key), None)


@pytest.mark.parametrize(
    "fields",
    [
        {"signature": "00" * 64},
        {"manifest": name_object(b"another")},
        {"manifest": "../../etc/passwd"},
        {"public_key": "00" * 32},
        {"public_key": "x"},
    ],
)
def test_a_pointer_that_its_publisher_did_not_sign_is_refused(store, key, fields):
    write_pointer(store, _build(key, **fields), None)

    with pytest.raises(StoreCorrupt, match="signature"):
        read_pointer(store, None)


def test_another_key_is_named(store, key, tmp_path):
    write_pointer(store, _build(key), None)
    other = PublisherKey(tmp_path / "other", create=True)

    with pytest.raises(StoreCorrupt, match="another key") as caught:
        read_pointer(store, other.public)
    assert key.public in caught.value.cause


def test_a_newer_format_is_told_from_damage(store, key):
    write_pointer(store, _build(key, format_version=99), None)

    with pytest.raises(NotIndexed):
        read_pointer(store, None)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"format_version": 1}', b"\xff"])
def test_what_is_no_record_is_damage(store, raw):
    store.write("current.json", raw)
    with pytest.raises(StoreCorrupt):
        read_pointer(store, None)
    store.write(f"manifests/{name_object(raw)}.json", raw)
    with pytest.raises(StoreCorrupt):
        read_manifest(store, name_object(raw))


def test_a_manifest_without_its_hash_is_damage(store):
    store.write(f"manifests/{DIGEST}.json", msgspec.json.encode({"format_version": 1}))

    with pytest.raises(StoreCorrupt, match="hash"):
        read_manifest(store, DIGEST)
