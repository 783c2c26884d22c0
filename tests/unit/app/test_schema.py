import re
from importlib.util import find_spec

import msgspec

from kebab import __version__
from kebab.app import schema
from kebab.app.conversions import check_freshness
from kebab.app.library import remove_documents
from kebab.app.schema import describe_build
from kebab.embed.registry import E5_SMALL
from kebab.wire.health import SchemaRequest
from kebab.wire.json_schema import build_schemas
from kebab.wire.library import RmRequest
from kebab.wire.record import add_envelope, encode_json
from tests.contract.conftest import load_validators


def _told(desk):
    return describe_build(desk.context(), SchemaRequest())


def test_an_empty_knowledge_base_was_never_changed(desk):
    desk.ingest()
    told = _told(desk)

    assert (told.stats.doc_count, told.stats.last_ingest_at) == (0, None)
    assert told.stats.index_bytes.sqlite > 0


def test_contents_are_counted(lab):
    lab.write("a.md", "# Cat\n\nthe cat sleeps on the mat in the park\n")
    lab.write("twin.md", "# Cat\n\nthe cat sleeps on the mat in the park\n")
    lab.write("c.txt", "각주는 문서의 끝에 있는 설명이다. 본문을 보충한다.\n")
    lab.write("d.txt", "1 2 3\n")
    lab.ingest()
    lab.write("e.md", "no model for this\n")
    lab.ingest(context=lab.context(models_dir=str(lab.folder / "none")))
    lab.write("a.md", "changed\n")
    (lab.notes / "c.txt").unlink()
    stats = _told(lab).stats

    assert (stats.doc_count, stats.asset_count, stats.pending_embeddings) == (5, 4, 1)
    assert stats.chunk_count == 5
    assert stats.media_breakdown == {"text/markdown": 3, "text/plain": 2}
    assert sum(stats.lang_breakdown.values()) == 5
    assert {"ko", "unknown"} <= stats.lang_breakdown.keys()
    assert stats.stale_doc_count == 2
    assert min(stats.index_bytes.sqlite, stats.index_bytes.lancedb) > 1_000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stats.last_ingest_at or "")


def test_last_ingest_is_the_last_change(desk):
    desk.write("a.md", "the cat\n")
    desk.ingest()
    first = _told(desk)
    desk.ingest()
    again = _told(desk)
    remove_documents(desk.context(), RmRequest(names=["a.md"]))
    emptied = _told(desk)

    assert first.stats.last_ingest_at == again.stats.last_ingest_at
    assert first.models.corpus_revision == again.models.corpus_revision
    assert emptied.stats.last_ingest_at is None
    assert emptied.models.corpus_revision > first.models.corpus_revision


def test_versions_describe_the_index(lab):
    lab.write("a.md", "the cat\n")
    lab.ingest()
    models = _told(lab).models

    assert models.embedding_version == E5_SMALL.version
    assert models.index_version == "lance-flat-l2-384-v1"
    assert models.parser_version in models.active_parsers
    assert models.active_chunkers == [models.chunker_version]
    assert (
        describe_build(lab.context(index__chunk_tokens=64), SchemaRequest()).models.chunker_version
        != models.chunker_version
    )
    assert models.prompt_template_version == "rag-v1"


def test_capabilities_match_this_build(desk):
    flags = msgspec.to_builtins(_told(desk).capabilities)

    assert all(isinstance(flag, bool) for flag in flags.values())
    assert {name for name, works in flags.items() if works} == {
        "json_mode",
        "ingest_progress",
        "ingest_cancellation",
        "rag_multi_turn",
        "search_cache",
        "incremental_ingest",
        "streaming_ask",
        "single_file_ingest",
        "bulk_search",
        "lexical_only_mode",
        "extractive_ask",
        "http_daemon",
        "mcp_server",
        "web_page",
        "published_base",
        "review",
        "translate",
        "watch",
        *(["cluster_ingest"] if find_spec("ray") else []),
    }


def test_every_schema_is_listed(desk):
    told = _told(desk)

    assert told.wire.schemas == sorted(build_schemas())
    assert told.kebab_version == __version__
    line = encode_json(add_envelope(told, command="schema", timestamp="now", exit_code=0))
    load_validators()["schema.v1"].validate(msgspec.json.decode(line))


def test_without_a_database_nothing_is_reported_unreadable(desk):
    assert _told(desk).unreadable is None
    desk.ingest()
    assert _told(desk).unreadable is None


def test_stale_documents_of_a_large_base_are_estimated_from_a_sample(desk, monkeypatch):
    for number in range(12):
        desk.write(f"{number:02}.md", f"the cat {number}\n")
    desk.ingest()
    for number in range(12):
        desk.write(f"{number:02}.md", "the cat was changed\n")
    seen: list[str] = []

    def check(file):
        seen.append(file.path)
        return check_freshness(file)

    monkeypatch.setattr(schema, "_SAMPLE", 4)
    monkeypatch.setattr(schema, "check_freshness", check)

    assert _told(desk).stats.stale_doc_count == 12
    assert len(seen) <= 4
