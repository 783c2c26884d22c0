import random
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core import ids
from kebab.core.ids import (
    compute_digest,
    find_missing_keys,
    find_repeated_keys,
    hash_content,
    hash_file,
    make_chunk_id,
    make_doc_id,
    sort_keys,
)


def test_ids_are_lower_case_hex_of_one_length():
    ids = [make_doc_id("s", "p"), make_chunk_id(make_doc_id("s", "p"), "heading-256-v1", "h", 0)]

    assert all(len(one) == 32 and int(one, 16) >= 0 and one == one.lower() for one in ids)
    assert len(hash_content(b"")) == 64


def test_an_occurrence_gives_another_id():
    assert make_doc_id("s", "p") == make_doc_id("s", "p", 0) != make_doc_id("s", "p", 1)


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_different_lists_of_parts_have_different_digests(one, other):
    assert (compute_digest(*one) == compute_digest(*other)) is (one == other)


def test_undecodable_names_have_ids_too():
    assert make_doc_id("s", "caf\udce9.md") != make_doc_id("s", "cafe.md")


def test_a_file_has_the_hash_of_its_content():
    data = b"text" * 500_000

    assert hash_file(BytesIO(data)) == hash_content(data)


def test_keys_are_sorted_with_repetitions():
    assert sort_keys([5, -1, 3, 5]).tolist() == [-1, 3, 5, 5]


@pytest.mark.parametrize("part", [1, 2, 3, 100])
def test_keys_that_are_not_held_are_missing(monkeypatch, part):
    monkeypatch.setattr(ids, "_PART", part)
    dice = random.Random(part)
    for _ in range(50):
        wanted = dice.choices(range(20), k=dice.randint(0, 15))
        held = dice.choices(range(20), k=dice.randint(0, 15))
        expected = sorted(key for key in wanted if key not in held)
        assert find_missing_keys(sort_keys(wanted), sort_keys(held)) == expected


def test_repeated_keys_are_returned_once():
    assert find_repeated_keys(sort_keys([3, 1, 3, 2, 1, 3])) == {1, 3}
    assert find_repeated_keys(sort_keys([])) == set()
