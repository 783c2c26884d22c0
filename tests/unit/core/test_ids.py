from io import BytesIO

from hypothesis import given
from hypothesis import strategies as st

from kebab.core.ids import compute_digest, hash_content, hash_file, make_chunk_id, make_doc_id


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
