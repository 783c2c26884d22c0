from hypothesis import given
from hypothesis import strategies as st

from kebab.chunk.budget import CHUNKER_VERSION, build_chunk_rows, format_chunker_version
from kebab.core.chunks import Chunk, build_embed_text
from kebab.core.ids import DocId, compute_digest


def chunks(texts):
    return [
        Chunk(ordinal=n, text=text, start=0, end=len(text), start_line=1, end_line=1)
        for n, text in enumerate(texts)
    ]


def test_the_label_names_the_limit():
    assert format_chunker_version(254) == CHUNKER_VERSION == "heading-254-v1"
    assert format_chunker_version(510) != CHUNKER_VERSION


@given(texts=st.lists(st.sampled_from("abc")))
def test_ids_are_unique_within_a_document(texts):
    ids = [row.chunk_id for row in build_chunk_rows(DocId("d"), "T", chunks(texts))]
    assert len(set(ids)) == len(ids)


def test_an_id_stays_when_other_chunks_come_and_go():
    before = {row.chunk_id for row in build_chunk_rows(DocId("d"), "T", chunks("abc"))}
    after = {row.chunk_id for row in build_chunk_rows(DocId("d"), "T", chunks("xabyc"))}
    assert before < after


def test_an_id_depends_on_document_chunker_and_text():
    def only(doc, chunker, text):
        return build_chunk_rows(DocId(doc), "T", chunks([text]), chunker)[0].chunk_id

    given_ids = {only("d", "c", "t"), only("e", "c", "t"), only("d", "x", "t"), only("d", "c", "u")}
    assert len(given_ids) == 4


def test_hashes_are_of_the_text_and_of_what_is_embedded():
    (row,) = build_chunk_rows(DocId("d"), "Title", chunks(["text"]))
    assert row.text_hash == compute_digest("text")
    assert row.embed_hash == compute_digest(build_embed_text("Title", (), "text"))
    assert row.chunk.text == "text"
