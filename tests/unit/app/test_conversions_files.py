from typing import Any

import msgspec
import pytest

from kebab.app.conversions import (
    check_freshness,
    format_timestamp,
    parse_time,
    to_ingest_progress,
    to_search_hit,
    to_search_response,
)
from kebab.core.documents import StoredDocument
from kebab.core.ids import ChunkId, DocId, Key
from kebab.core.progress import Progress, ProgressKind
from kebab.core.queries import Confidence, Hit, Mode, Page, Query, Snippet, StoredChunk
from kebab.errors.catalog import InvalidInput
from kebab.search.citations import build_file_path
from kebab.wire.record import add_envelope, encode_json
from kebab.wire.search import DegradedChannel, LeftOut, TraceStage
from tests.contract.conftest import load_validators
from tests.fakes.evidence import retrieval


def _document(source, root, path, size=0, mtime_ns=0):
    return StoredDocument(
        doc_id=DocId("d"),
        source=source,
        root=root,
        path=path,
        title="",
        media="text/markdown",
        lang=None,
        tags=(),
        size=size,
        mtime_ns=mtime_ns,
        indexed_at=0.0,
        chunks=1,
        warnings=(),
    )


def test_freshness_changes_with_the_file(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("x")
    seen = file.stat()

    def now():
        return check_freshness(
            _document("work", str(tmp_path), "a.md", seen.st_size, seen.st_mtime_ns)
        )

    assert now() == "fresh"
    file.write_text("longer")
    assert now() == "changed"
    file.unlink()
    assert now() == "gone"


def test_text_from_standard_input_has_no_path_of_a_file():
    own = _document("work", "/home/me/notes", "a/b.md")

    assert build_file_path(own) == "/home/me/notes/a/b.md"
    assert build_file_path(_document("stdin", "/data/stdin", "call.md")) is None


def _chunk(root, *, source="/notes"):
    return StoredChunk(
        key=Key(7),
        chunk_id=ChunkId("c" * 32),
        doc_id=DocId("d" * 32),
        ordinal=1,
        text="the cat sleeps",
        start_line=3,
        end_line=4,
        heading_path=("Cat", "Sleep"),
        source=source,
        root=str(root),
        path="a b.md",
        title="Cat",
        media="text/markdown",
        lang=None,
        tags=("pets",),
        size=1,
        mtime_ns=2,
        indexed_at=1_700_000_000.0,
        chunker_version="headings-v1",
        embedding_version=None,
    )


def _hit(chunk, **fields):
    return Hit(
        rank=1,
        score=0.123456789,
        confidence=Confidence.FAIR,
        chunk=chunk,
        snippet=Snippet(text="the cat", highlights=((4, 7),)),
        retrieval=retrieval(fusion_score=0.5, **fields),
    )


def _page(*hits, **changes):
    told: dict[str, Any] = {
        "hits": hits,
        "has_more": False,
        "next_offset": None,
        "left_out": None,
        "degraded": (),
        "revision": 5,
        "timing_ms": 1.5,
        "stages": (TraceStage(stage="lexical", duration_ms=0.5, candidates=3, note="2 terms"),),
    }
    return Page(**{**told, **changes})


def test_a_hit_has_its_location_and_its_scores(tmp_path):
    found = to_search_hit(_hit(_chunk(tmp_path), lexical_rank=2, lexical_score=3.5))

    assert (found.doc_path, found.file) == ("a b.md", str(tmp_path / "a b.md"))
    assert found.citation.uri == "a%20b.md#L3-L4"
    assert (found.heading_path, found.tags) == (["Cat", "Sleep"], ["pets"])
    assert found.highlights == [(4, 7)]
    assert (found.indexed_at, found.freshness) == ("2023-11-14T22:13:20.000Z", "gone")
    assert (found.confidence, found.score_kind, found.index_version) == (
        "fair",
        "calibrated",
        "lance-flat-l2-384-v1",
    )
    assert (found.retrieval.lexical_rank, found.retrieval.lexical_score) == (2, 3.5)
    assert found.retrieval.fusion_score == 0.5


def test_text_from_standard_input_has_no_file(tmp_path):
    assert to_search_hit(_hit(_chunk(tmp_path, source="stdin"))).file is None


def test_a_page_keeps_its_schema_with_and_without_a_trace(tmp_path):
    degraded = (DegradedChannel(channel="vector", reason="no model", hint=None),)
    page = _page(
        _hit(_chunk(tmp_path)), degraded=degraded, has_more=True, left_out=LeftOut(hits=1, tokens=9)
    )
    plain = to_search_response(page, Query(text="cat"), "next")
    traced = to_search_response(page, Query(text="cat", mode=Mode.LEXICAL, trace=True), None)

    assert (plain.trace, plain.next_cursor, plain.mode) == (msgspec.UNSET, "next", "hybrid")
    assert [(one.stage, one.note) for one in traced.trace or ()] == [("lexical", "2 terms")]
    assert (traced.mode, traced.has_more, traced.truncated) == ("lexical", True, True)
    assert [(one.channel, one.hint) for one in plain.degraded] == [("vector", None)]
    for reply in (plain, traced):
        line = encode_json(add_envelope(reply, command="search", timestamp="now", exit_code=0))
        load_validators()["search_response.v1"].validate(msgspec.json.decode(line))
        assert msgspec.json.decode(line)["hits"][0]["score"] == 0.123457


def test_an_event_omits_unknown_fields():
    bare = to_ingest_progress(Progress(kind=ProgressKind.SCAN_STARTED))
    full = to_ingest_progress(
        Progress(
            kind=ProgressKind.EMBED_BATCH,
            path="a.md",
            phase="embed",
            done=0,
            total=2,
            unit="chunks",
            message="",
            elapsed_ms=9,
        )
    )

    assert msgspec.to_builtins(bare) == {
        "schema_version": "ingest_progress.v1",
        "kind": "scan_started",
        "elapsed_ms": 0,
    }
    assert msgspec.to_builtins(full) == {
        "schema_version": "ingest_progress.v1",
        "kind": "embed_batch",
        "path": "a.md",
        "phase": "embed",
        "done": 0,
        "total": 2,
        "unit": "chunks",
        "message": "",
        "elapsed_ms": 9,
    }


def test_a_stamp_is_utc_with_z():
    assert format_timestamp(0) == "1970-01-01T00:00:00.000Z"
    assert format_timestamp(1_700_000_000.1234) == "2023-11-14T22:13:20.123Z"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02T00:00:00Z", 86_400),
        ("1970-01-01T01:00:00+01:00", 0),
        ("7d", 1_000_000 - 7 * 86_400),
        ("2w", 1_000_000 - 14 * 86_400),
        (" 3H ", 1_000_000 - 3 * 3600),
    ],
)
def test_dates_timestamps_and_ages_are_parsed(text, seconds):
    assert parse_time(text, "since", now=1_000_000) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2024-13-01", "7", "99999999999999999d"])
def test_anything_else_is_refused_with_the_field(text):
    with pytest.raises(InvalidInput) as caught:
        parse_time(text, "until", now=0)

    assert caught.value.field == "until"
