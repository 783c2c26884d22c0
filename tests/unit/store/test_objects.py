import contextlib

import pytest
from obstore import exceptions

from kebab.errors.catalog import InvalidInput, IoError, Locked
from kebab.store import objects
from kebab.store.objects import ObjectStore
from tests.fakes.object_server import BUCKET, serve_folder, serve_s3, use_s3

KINDS = ("folder", "s3")


@pytest.fixture(autouse=True)
def _few_retries(monkeypatch):
    monkeypatch.setattr(objects, "_RETRIES", 1)


@pytest.fixture(scope="module")
def s3():
    with serve_s3() as server:
        yield server


@pytest.fixture
def bucket(s3, monkeypatch, tmp_path):
    use_s3(s3, monkeypatch, retries=1)
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    folder = str(tmp_path / "deep" / "base")
    return ObjectStore(folder if request.param == "folder" else request.getfixturevalue("bucket"))


@pytest.mark.parametrize("name", [one for one in dir(exceptions) if one.endswith("Error")])
def test_every_exception_of_the_library_is_translated(store, name):
    fault = getattr(exceptions, name)("first line\nsecond")
    assert issubclass(type(fault), exceptions.BaseError) or isinstance(fault, OSError | ValueError)
    with pytest.raises((IoError, InvalidInput)) as caught, store._translate("a", "read"):
        raise fault

    denied = name in ("PermissionDeniedError", "UnauthenticatedError")
    assert ("access denied" in str(caught.value)) == denied
    assert ("first line" in str(caught.value)) != denied
    assert "second" not in str(caught.value)


def test_what_is_written_is_read_and_listed(store):
    assert store.read_version("base.json") is None
    assert list(store.list("")) == []
    store.replace("base.json", b"one", None)

    assert store.read_version("base.json").data == b"one"
    assert ("base.json", 3) in [(one.name, one.size) for one in store.list("")]


def test_an_object_is_replaced_only_at_the_version_that_was_read(store):
    store.replace("current.json", b"1", None)
    with pytest.raises(Locked):
        store.replace("current.json", b"2", None)
    first = store.read_version("current.json")
    store.replace("current.json", b"3", first)
    with pytest.raises(Locked):
        store.replace("current.json", b"4", first)
    assert store.read_version("current.json").data == b"3"


def test_a_web_server_only_sends(tmp_path):
    (tmp_path / "a").write_bytes(b"text")
    with serve_folder(tmp_path) as server:
        store = ObjectStore(f"http://127.0.0.1:{server.port}")
        assert b"text" in (store.read_version("a") or ())
        assert store.read_version("b") is None


@pytest.mark.parametrize("fault", ["503", "403", "truncated", "reset"])
def test_a_fault_of_the_server_is_an_io_error(tmp_path, fault):
    (tmp_path / "a").write_bytes(b"text" * 100)
    with serve_folder(tmp_path) as server:
        server.faults["a"] = fault
        store = ObjectStore(f"http://127.0.0.1:{server.port}")
        with pytest.raises(IoError) as caught:
            store.read_version("a")
    assert caught.value.path.endswith("/a")
    assert ("access denied" in caught.value.cause) == (fault == "403")


def test_credentials_are_in_no_message(s3, bucket):
    s3.faults[BUCKET] = "403"
    with pytest.raises(IoError) as denied:
        ObjectStore(bucket).replace("a", b"1", None)
    s3.faults[BUCKET] = "503"
    with pytest.raises(IoError) as failed:
        ObjectStore(bucket).read_version("a")
    for caught in (denied, failed):
        assert "secret" not in caught.value.format_message()
        assert "\n" not in caught.value.cause


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("expired", "ExpiredToken"),
        ("skewed", "RequestTimeTooSkewed"),
    ],
)
def test_the_reason_that_a_store_gives_is_told(s3, bucket, fault, words):
    s3.faults[BUCKET] = fault
    with pytest.raises(IoError, match=words):
        ObjectStore(bucket).replace("a", b"1", None)


def test_a_conditional_write_whose_reply_is_lost_is_no_conflict(s3, bucket):
    store = ObjectStore(bucket)
    s3.faults["current.json"], s3.methods = "reset", {"PUT"}
    with contextlib.suppress(IoError):  # the library may stop to try again
        store.replace("current.json", b"1", None)
    s3.faults.clear()
    assert b"1" in (store.read_version("current.json") or ())


def test_an_address_that_cannot_be_read_is_refused():
    with pytest.raises((InvalidInput, IoError)):
        ObjectStore("http://[bad/x").read_version("a")
