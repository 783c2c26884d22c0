import pytest

from kebab.errors.catalog import IoError, StoreCorrupt
from kebab.store.published import objects
from kebab.store.published.objects import ObjectStore
from kebab.store.published.packs import PackWriter
from kebab.store.published.remote import ItemList, ItemSource
from kebab.store.sqlite.remote import ItemCache
from tests.fakes.object_server import BUCKET, serve_folder, serve_s3, use_s3

PAGES = [bytes([number]) * 4096 for number in range(40)]


@pytest.fixture(scope="module")
def s3():
    with serve_s3() as server:
        yield server


@pytest.fixture
def bucket(s3, monkeypatch, tmp_path):
    s3.faults.clear()
    monkeypatch.setattr(objects, "_RETRIES", 1)
    use_s3(s3, monkeypatch)
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture(params=["folder", "s3"])
def address(request, tmp_path):
    folder = str(tmp_path / "base")
    return folder if request.param == "folder" else request.getfixturevalue("bucket")


@pytest.fixture
def cache(tmp_path):
    found = ItemCache(tmp_path / "items.sqlite", 10_000_000)
    yield found
    found.close()


def publish(address, pages=PAGES):
    """Write pages to a store; return the contents."""
    store = ObjectStore(address)
    writer = PackWriter(None, lambda _: [], lambda name, data: store.write(f"packs/{name}", data))
    return writer.finish(4096, writer.add(pages), [], [])


def open_pages(address, contents, cache, forget=lambda: None):
    source = ItemSource(ObjectStore(address), contents, cache, forget)
    return source, ItemList(source, contents.pages)


def test_single_pages_are_read_and_stay_in_the_cache(address, cache):
    contents = publish(address)
    source, pages = open_pages(address, contents, cache)

    assert pages.read([7, 3, 8]) == [PAGES[7], PAGES[3], PAGES[8]]
    assert pages.read([3]) == [PAGES[3]]
    assert source.requests <= 3  # the head, and what is not side by side
    again, pages = open_pages(f"{address}-gone", contents, cache)
    assert pages.read([8, 3, 7]) == [PAGES[8], PAGES[3], PAGES[7]]
    assert again.read_bytes == 0


def test_what_would_be_read_is_measured_before(address, cache):
    contents = publish(address)
    source, pages = open_pages(address, contents, cache)
    places = [pages.find(number) for number in range(40)]
    expected = source.measure(places)
    before = source.read_bytes
    source.load(places)

    assert source.read_bytes - before == expected > 0
    assert source.measure(places) == 0


def test_a_lost_pack_is_told_and_the_next_look_comes_at_once(address, cache):
    contents = publish(address)
    forgotten = []
    _, pages = open_pages(address, contents, cache, lambda: forgotten.append(1))
    pages.read([1])
    ObjectStore(address).delete(f"packs/{contents.packs[0]}")

    assert pages.read([1]) == [PAGES[1]]
    with pytest.raises(StoreCorrupt, match="is gone"):
        pages.read([2])
    assert forgotten


@pytest.mark.parametrize(
    ("fault", "error"),
    [("503", IoError), ("reset", IoError), ("truncated", IoError), ("changed", StoreCorrupt)],
)
@pytest.mark.parametrize("is_head_known", [True, False])
def test_faults_of_the_store_are_told_and_nothing_wrong_is_kept(
    s3, bucket, cache, fault, error, is_head_known
):
    contents = publish(bucket)
    _, pages = open_pages(bucket, contents, cache)
    if is_head_known:
        pages.read([0])
    s3.faults["packs/"] = fault
    with pytest.raises(error):
        pages.read([5])
    s3.faults.clear()

    assert pages.read([5]) == [PAGES[5]]


def test_a_damaged_part_of_the_cache_is_read_again(tmp_path, cache):
    contents = publish(str(tmp_path / "base"))
    source, pages = open_pages(str(tmp_path / "base"), contents, cache)
    pages.read([4])
    for identity in source.read_head(0).ids:
        cache.delete(identity)
        cache.put([(identity, b"nonsense")])

    assert pages.read([4]) == [PAGES[4]]


def test_a_full_cache_stores_nothing_and_searches_go_on(tmp_path):
    contents = publish(str(tmp_path / "base"))
    cache = ItemCache(tmp_path / "small.sqlite", 0)
    source, pages = open_pages(str(tmp_path / "base"), contents, cache)
    assert pages.read(range(40)) == PAGES
    assert source.requests == 2

    assert cache.find_missing([b"\0"]) == {b"\0"}
    cache.close()


def test_a_web_server_without_ranges_is_told(tmp_path, cache):
    contents = publish(str(tmp_path / "base"))
    with serve_folder(tmp_path / "base") as server:
        _, pages = open_pages(f"http://127.0.0.1:{server.port}", contents, cache)
        with pytest.raises(IoError, match="Range"):
            pages.read([1])
