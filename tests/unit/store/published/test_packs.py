import os
import random
import zlib
from itertools import pairwise

import msgspec
import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.store.published import packs
from kebab.store.published.packs import (
    Contents,
    PackHead,
    PackReader,
    PackWriter,
    Run,
    check_object,
    count_head_bytes,
    decode_contents,
    decode_pack,
    encode_contents,
    encode_pack,
    identify,
    is_object_name,
    name_object,
    read_identities,
    unpack_item,
)


class Shelf:
    """Packs in memory."""

    def __init__(self) -> None:
        self.packs: dict[str, bytes] = {}
        self.sent: list[str] = []

    def send(self, name: str, data: bytes) -> None:
        self.packs[name] = data
        self.sent.append(name)

    def read_ids(self, name: str) -> list[bytes]:
        return read_identities(lambda size: self.packs[name][:size], name)

    def publish(self, before: Contents | None, items: list[bytes]) -> Contents:
        self.sent = []
        writer = PackWriter(before, self.read_ids, self.send)
        return writer.finish(4096, writer.add(items), [], [])

    def read(self, contents: Contents) -> list[bytes]:
        return list(PackReader(contents, self.packs.__getitem__).read_items(contents.pages))


def _make_items(count: int, size: int = 1000, seed: int = 1) -> list[bytes]:
    chance = random.Random(seed)
    return [chance.randbytes(size) for _ in range(count)]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("items", [[], [b""], [b"a", b"", b"bc" * 5000], _make_items(40)])
def test_a_pack_returns_its_items_and_tells_them_from_its_beginning(items, apart):
    data = encode_pack(items, apart=apart)

    assert decode_pack(data, "x") == items
    assert read_identities(lambda size: data[:size], "x") == [identify(one) for one in items]


def test_identities_behind_the_first_read_are_read_too(monkeypatch):
    monkeypatch.setattr(packs, "HEAD_BYTES", 40)
    items = _make_items(20)
    data = encode_pack(items)

    assert len(read_identities(lambda size: data[:size], "x")) == 20


def test_an_item_of_a_pack_with_items_apart_is_read_by_its_place():
    items = [b"first" * 50, b"", b"last"]
    data = encode_pack(items, apart=True)
    head = PackHead(data[: count_head_bytes(3)], "x")
    parts = [data[at:end] for at, end in pairwise(head.places)]

    unpacked = [unpack_item(one, known, "x") for one, known in zip(parts, head.ids, strict=True)]
    assert unpacked == items
    assert head.places[-1] == len(data)
    for damaged in (parts[0][:-1], parts[2], b"", zlib.compress(bytes(5_000_000))):
        with pytest.raises(StoreCorrupt):
            unpack_item(damaged, head.ids[0], "x")
    with pytest.raises(StoreCorrupt):
        PackHead(data[: count_head_bytes(3) - 1], "x")


def test_packs_of_an_older_format_are_written_anew():
    shelf = Shelf()
    first = shelf.publish(None, _make_items(3))
    older = msgspec.structs.replace(first, heads=[])
    second = shelf.publish(older, _make_items(3))

    assert shelf.sent == second.packs
    assert all(second.heads)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("cut", [0, 5, 30, 100, -1, -40])
def test_a_pack_that_is_cut_off_is_damaged(cut, apart):
    data = encode_pack(_make_items(3), apart=apart)

    with pytest.raises(StoreCorrupt):
        decode_pack(data[:cut], "x")


def test_a_pack_that_grows_beyond_what_it_says_is_damaged():
    data = encode_pack([b"a" * 100])
    start = len(data) - len(zlib.compress(b"a" * 100, 6))

    with pytest.raises(StoreCorrupt):
        decode_pack(data[:start] + zlib.compress(b"a" * 10_000_000), "x")


def test_only_what_is_new_is_sent(monkeypatch):
    monkeypatch.setattr(packs, "PACK_BYTES", 20_000)
    shelf, items = Shelf(), _make_items(100)
    first = shelf.publish(None, items)
    changed = [*items[:50], b"new", *items[51:]]
    second = shelf.publish(first, changed)

    assert len(shelf.sent) == 1
    assert decode_pack(shelf.packs[shelf.sent[0]], "x") == [b"new"]
    assert shelf.read(first) == items
    assert shelf.read(second) == changed
    assert shelf.publish(second, changed).packs == second.packs
    assert shelf.sent == []


def test_packs_of_which_less_than_half_is_used_are_written_anew(monkeypatch):
    monkeypatch.setattr(packs, "PACK_BYTES", 20_000)
    shelf, items = Shelf(), _make_items(40)
    first = shelf.publish(None, items)
    half = shelf.publish(first, items[:8])
    assert half.packs == first.packs[:1]
    again = shelf.publish(half, items[:8])

    assert again.packs != half.packs
    assert shelf.read(again) == items[:8]


def test_many_small_packs_become_one(monkeypatch):
    monkeypatch.setattr(packs, "MOST_SMALL_PACKS", 3)
    shelf, items = Shelf(), [b"first"]
    contents = shelf.publish(None, items)
    for number in range(12):
        items.append(b"%d" % number)
        contents = shelf.publish(contents, items)
        assert len(contents.packs) <= 5
        assert shelf.read(contents) == items


def test_equal_items_are_stored_once():
    shelf = Shelf()
    contents = shelf.publish(None, [b"a", b"b", b"a", b"a"])

    assert contents.sizes == [2]
    assert shelf.read(contents) == [b"a", b"b", b"a", b"a"]
    reader = PackReader(contents, shelf.packs.__getitem__)
    assert dict(reader.place_items(contents.pages)) == {0: b"a", 1: b"b", 2: b"a", 3: b"a"}


def test_random_histories_keep_every_snapshot_readable(monkeypatch):
    monkeypatch.setattr(packs, "PACK_BYTES", 3000)
    chance, shelf = random.Random(5), Shelf()
    items, contents = _make_items(30, 200), None
    for _ in range(40):
        items = [os.urandom(150) if chance.random() < 0.1 else one for one in items]
        if chance.random() < 0.3:
            del items[chance.randrange(len(items))]
            items += _make_items(3, 200, chance.randrange(10**6))
        contents = shelf.publish(contents, items)
        assert shelf.read(decode_contents(encode_contents(contents), "x")) == items
        # Old and new packs stay within twice of what is used, and some small ones.
        live = contents.count_live()
        assert all(live)


@pytest.mark.parametrize(
    "run", [Run(1, 0, 1), Run(-1, 0, 1), Run(0, 2, 1), Run(0, -1, 1), Run(0, 0, 3)]
)
def test_contents_that_name_other_items_are_damaged(run):
    contents = Contents(
        packs=["a"], sizes=[2], small=[True], page_bytes=1, pages=[run], rows=[], files=[]
    )

    with pytest.raises(StoreCorrupt, match="no pack has"):
        decode_contents(encode_contents(contents), "x")


@pytest.mark.parametrize(
    "changes", [{"heads": ["ab" * 32] * 2}, {"heads": [""]}, {"top": [2]}, {"top": [-1]}]
)
def test_contents_that_mislead_a_reader_without_a_copy_are_damaged(changes):
    contents = Contents(
        packs=["a"],
        sizes=[2],
        small=[True],
        page_bytes=1,
        pages=[Run(0, 0, 2)],
        rows=[],
        files=[],
        heads=["ab" * 32],
        top=[0, 1],
    )
    assert decode_contents(encode_contents(contents), "x") == contents

    with pytest.raises(StoreCorrupt):
        decode_contents(encode_contents(msgspec.structs.replace(contents, **changes)), "x")


@pytest.mark.parametrize("data", [b"", b"x", zlib.compress(b"x")])
def test_contents_that_cannot_be_read_are_damaged(data):
    with pytest.raises(StoreCorrupt):
        decode_contents(data, "x")


def test_an_object_has_the_hash_of_its_name():
    name = name_object(b"a")

    assert is_object_name(name)
    assert check_object(b"a", name, "x") == b"a"
    assert not any(map(is_object_name, ("", "..", name[:-1], name.upper(), "/" * 64)))
    for data in (None, b"b"):
        with pytest.raises(StoreCorrupt):
            check_object(data, name, "x")
