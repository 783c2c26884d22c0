import random
from io import BytesIO

import pytest

from kebab.core import ids
from kebab.core.ids import (
    find_missing_keys,
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


def test_a_file_has_the_hash_of_its_content():
    data = b"text" * 500_000

    assert hash_file(BytesIO(data)) == hash_content(data)


@pytest.mark.parametrize("part", [1, 100])
def test_keys_that_are_not_held_are_missing(monkeypatch, part):
    monkeypatch.setattr(ids, "_PART", part)
    dice = random.Random(part)
    for _ in range(50):
        wanted = dice.choices(range(20), k=dice.randint(0, 15))
        held = dice.choices(range(20), k=dice.randint(0, 15))
        expected = sorted(key for key in wanted if key not in held)
        assert find_missing_keys(sort_keys(wanted), sort_keys(held)) == expected
