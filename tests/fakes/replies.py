"""Wire objects as a small knowledge base would give them."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from kebab.wire.ask import (
    Answer,
    AnswerCitation,
    AnswerRetrieval,
    AnswerUsage,
    AnswerWarning,
    SessionList,
    SessionRemoved,
    SessionSummary,
    SessionTranscript,
    SessionTurn,
)
from kebab.wire.coverage import Coverage
from kebab.wire.fetch import GrepFile, GrepHit, GrepResponse, Outline, OutlineEntry, OutlineSection
from kebab.wire.health import (
    Capabilities,
    Doctor,
    DoctorCheck,
    IndexBytes,
    InitReport,
    Introspection,
    ModelInfo,
    ModelList,
    ModelReport,
    ModelRow,
    Repair,
    RepairOutcome,
    RepairReport,
    ResetReport,
    Stats,
    WireInfo,
)
from kebab.wire.ingest import EmbeddingSummary, IngestItem, IngestReport, SlowFile
from kebab.wire.library import (
    ChunkBrief,
    ChunkInspection,
    DocInspection,
    DocList,
    DocSummary,
    DuplicateGroup,
    DuplicateMember,
    Duplicates,
    FetchResult,
    MatchedPassage,
    PassagePair,
    RelatedDoc,
    RelatedDocs,
    RemoveReport,
    SourceList,
    SourceRemoved,
    SourceSummary,
)
from kebab.wire.published import (
    ArchiveManifest,
    ExportReport,
    ImportReport,
    PublishedBase,
    PublishReport,
    SourceAdded,
)
from kebab.wire.record import LineCitation, LineSpan, LookupFault, NotFound
from kebab.wire.review import AppliedFile, ReviewApplied, ReviewApplyRequest
from kebab.wire.search import Retrieval, SearchHit, SearchResponse

WHEN = "2025-01-31T12:00:00.000Z"
DOC = "d" * 32
CHUNK = "c" * 32
SOURCES = {"notes": "/home/ada/notes"}
NAMED = {"doc_id": DOC, "doc_path": "ops/backup.md"}
PLACE = {**NAMED, "file": "/home/ada/notes/ops/backup.md"}
HEADINGS = ["Backups", "Restoring"]
SNIPPET = "Stop the writer,\nthen restore the snapshot."
R = TypeVar("R")


def build(record: Callable[..., R], changes: dict[str, Any], /, **fields: Any) -> R:
    """Return a record of these fields, some of them changed."""
    return record(**{**fields, **changes})


def make_builder(record: Callable[..., R], /, **fields: Any) -> Callable[..., R]:
    """Return a function that builds a record of these fields, or of others where it is told."""
    return partial(record, **fields)


def line_citation(path: str = "ops/backup.md", start: int = 12, end: int = 13) -> LineCitation:
    """Return the citation of some lines."""
    return LineCitation(path=path, uri=f"{path}#L{start}", line=LineSpan(start=start, end=end))


def _section(ref: str, title: str, level: int, tokens: int) -> OutlineSection:
    return OutlineSection(
        ref=ref,
        level=level,
        title=title,
        heading_path=[title],
        start_line=1,
        end_line=40,
        tokens=tokens,
    )


summary = make_builder(
    DocSummary,
    doc_id=DOC,
    doc_path="ops/backup.md",
    source="notes",
    title="Backups",
    media="text/markdown",
    lang="en",
    tags=["ops"],
    size=2048,
    chunk_count=3,
    modified_at=WHEN,
    indexed_at=WHEN,
    freshness="fresh",
)


def hit(rank: int = 1, **changes: Any) -> SearchHit:
    """Return a hit."""
    return build(
        SearchHit,
        changes,
        rank=rank,
        score=0.83,
        confidence="strong",
        score_kind="calibrated",
        **NAMED,
        source="notes",
        title="Backups",
        heading_path=HEADINGS,
        chunk_id=CHUNK,
        snippet=SNIPPET,
        highlights=[(22, 29)],
        citation=line_citation(),
        retrieval=Retrieval(
            method="lexical",
            lexical_rank=rank,
            lexical_score=7.5,
            vector_rank=None,
            vector_score=None,
            fusion_score=0.5,
        ),
        indexed_at=WHEN,
        freshness="fresh",
        tags=["ops"],
        lang="en",
        media="text/markdown",
    )


def response(*hits: SearchHit, **changes: Any) -> SearchResponse:
    """Return a page of hits."""
    return build(
        SearchResponse,
        changes,
        query="restore",
        mode="hybrid",
        hits=list(hits),
        sources=SOURCES,
        has_more=False,
        next_cursor=None,
        truncated=False,
        degraded=[],
        corpus_revision=7,
        timing_ms=1.25,
    )


def related_doc(rank: int = 1, **changes: Any) -> RelatedDoc:
    """Return a neighbour."""
    own = MatchedPassage(
        chunk_id="a" * 32, heading_path=["Restic"], citation=line_citation("ops/restic.md", 3, 9)
    )
    found = MatchedPassage(chunk_id=CHUNK, heading_path=HEADINGS, citation=line_citation())
    return build(
        RelatedDoc,
        changes,
        rank=rank,
        score=0.41,
        vector_score=0.5,
        lexical_score=0.32,
        **PLACE,
        source="notes",
        title="Backups",
        tags=["ops"],
        lang="en",
        media="text/markdown",
        indexed_at=WHEN,
        freshness="fresh",
        pair=PassagePair(
            asked=own, found=found, snippet=SNIPPET, highlights=[(22, 29)], cosine=0.75
        ),
    )


def related_docs(*related: RelatedDoc, **changes: Any) -> RelatedDocs:
    """Return the neighbours of a document."""
    return build(
        RelatedDocs,
        changes,
        document=summary(doc_path="ops/restic.md"),
        related=list(related),
        degraded=[],
        corpus_revision=7,
        timing_ms=1.25,
    )


duplicate_member = make_builder(
    DuplicateMember,
    similarity=1.0,
    exact=True,
    **PLACE,
    source="notes",
    title="Backups",
    chunk_id=CHUNK,
    heading_path=HEADINGS,
    citation=line_citation(),
    freshness="fresh",
)


def duplicate_group(**changes: Any) -> DuplicateGroup:
    """Return a group of two passages."""
    other = line_citation("old/backup.md", 4, 4)
    return build(
        DuplicateGroup,
        changes,
        unit="passage",
        kind="near",
        similarity=0.83,
        snippet=SNIPPET,
        members=[
            duplicate_member(),
            duplicate_member(similarity=0.83, exact=False, citation=other),
        ],
    )


def duplicates(*groups: DuplicateGroup, **changes: Any) -> Duplicates:
    """Return a page of groups."""
    return build(
        Duplicates,
        changes,
        threshold=0.7,
        exact=False,
        groups=list(groups),
        total=len(groups),
        has_more=False,
        compared=12,
        corpus_revision=7,
        timing_ms=1.25,
    )


def answer_citation(marker: int = 1, **changes: Any) -> AnswerCitation:
    """Return what carries a part of an answer."""
    return build(
        AnswerCitation,
        changes,
        marker=marker,
        citation=line_citation(),
        **PLACE,
        title="Backups",
        heading_path=HEADINGS,
        chunk_id=CHUNK,
        quote=SNIPPET,
        spans=[(0, 42)],
        freshness="fresh",
    )


def answer_warning(message: str, code: str = "odd") -> AnswerWarning:
    """Return something that a reader must know."""
    return AnswerWarning(code=code, message=message, marker=None, span=None)


answer_retrieval = make_builder(
    AnswerRetrieval,
    trace_id="t" * 32,
    query="how do I restore",
    mode="hybrid",
    limit=8,
    chunks_returned=6,
    chunks_used=5,
    top_score=0.9,
    score_gate=0.3,
    degraded=[],
    corpus_revision=7,
)


def answer(text: str = "Stop the writer, then **restore** [1].", **changes: Any) -> Answer:
    """Return an answer."""
    return build(
        Answer,
        changes,
        question="how do I restore",
        answer=text,
        grounded=True,
        refusal_reason=None,
        citations=[answer_citation()],
        suggestions=[],
        mode="generative",
        model="gemma3:4b",
        embedding=None,
        prompt_template_version="answer-v1",
        retrieval=answer_retrieval(),
        usage=AnswerUsage(
            prompt_tokens=900,
            completion_tokens=60,
            latency_ms=3210.0,
            first_token_ms=800.0,
            finish_reason="stop",
            truncated=False,
            downshifts=0,
        ),
        warnings=[],
        session_id=None,
        turn_index=None,
        created_at=WHEN,
    )


def refusal(reason: str, text: str = "The notes do not say.", **changes: Any) -> Answer:
    """Return that there is no answer."""
    return answer(text, **{"grounded": False, "refusal_reason": reason, "citations": [], **changes})


def doc_list(*documents: DocSummary, **changes: Any) -> DocList:
    """Return a page of documents."""
    return build(
        DocList,
        changes,
        documents=list(documents),
        total=len(documents),
        offset=0,
        has_more=False,
        corpus_revision=7,
    )


brief = make_builder(
    ChunkBrief,
    chunk_id=CHUNK,
    ordinal=0,
    heading_path=HEADINGS,
    citation=line_citation(),
    chars=41,
    vector="committed",
)


doc_inspection = make_builder(
    DocInspection,
    document=summary(),
    file="/home/ada/notes/ops/backup.md",
    content_hash="ab" * 32,
    parser_version="markdown-v1",
    chunker_version="markdown-v1",
    warnings=[],
    chunks=[brief()],
)


chunk_inspection = make_builder(
    ChunkInspection,
    chunk=brief(),
    document=summary(),
    text="Stop the writer,\nthen restore.",
    embed_text="Backups > Restoring\nStop the writer,\nthen restore.",
    text_hash="ef" * 16,
    embedding_version="fastembed-minilml6-384-v1",
    previous_chunk_id=None,
    next_chunk_id="e" * 32,
)


fetch_result = make_builder(
    FetchResult,
    kind="chunk",
    doc_id=DOC,
    doc_path="ops/backup.md",
    title="Backups",
    chunk_id=CHUNK,
    text="before\nStop the writer,\nthen restore.\nafter\n",
    start_line=11,
    end_line=14,
    line_count=40,
    citation=line_citation(),
    freshness="fresh",
    truncated=False,
)


grep_hit = make_builder(
    GrepHit,
    **PLACE,
    line=12,
    column=6,
    text="Stop the writer,",
    is_cut=False,
    highlights=[(5, 8)],
    before=[],
    after=[],
    heading_path=["Backups"],
    freshness="fresh",
    citation=line_citation(start=12, end=12),
)


def grep_response(*hits: GrepHit, **changes: Any) -> GrepResponse:
    """Return lines that match in files that were searched."""
    lines = Counter((hit.doc_id, hit.doc_path, hit.file, hit.freshness) for hit in hits)
    files = [
        GrepFile(doc_id=doc_id, doc_path=path, file=file, lines=count, freshness=freshness)
        for (doc_id, path, file, freshness), count in lines.items()
    ]
    return build(
        GrepResponse,
        changes,
        pattern="the",
        hits=list(hits),
        files=files,
        matched_lines=len(hits),
        searched_files=4,
        skipped=[],
        has_more=False,
        corpus_revision=3,
        timing_ms=1.5,
    )


outline = make_builder(
    Outline,
    kind="document",
    ref="ops/my%20note.md",
    documents=1,
    chunks=3,
    tokens=320,
    doc_id=DOC,
    doc_path="ops/my note.md",
    line_count=40,
    freshness="fresh",
    sections=[
        _section("ops/my%20note.md#L1-L40", "Backups", 1, 320),
        _section("ops/my%20note.md#L9-L12", "Restore", 2, 40),
    ],
)


def outline_tree(**changes: Any) -> Outline:
    """Return the outline of a folder."""
    folder = OutlineEntry(
        kind="folder", ref="/n/deep", path="deep", depth=0, documents=2, chunks=6, tokens=600
    )
    document = OutlineEntry(
        kind="document",
        ref="deep/b.md",
        path="deep/b.md",
        depth=1,
        documents=1,
        chunks=3,
        tokens=300,
        title="About b",
    )
    return build(
        Outline,
        changes,
        kind="folder",
        ref="/n",
        documents=3,
        chunks=9,
        tokens=900,
        entries=[folder, document],
        hidden=1,
    )


def not_found(name: str = "nowhere", *candidates: str) -> NotFound:
    """Return that nothing, or too much, has a name."""
    kind = "ambiguous" if candidates else "not_found"
    fault = LookupFault(
        kind=kind,  # type: ignore[arg-type]
        message=f"no document named {name}",
        retryable=False,
        candidates=list(candidates),
    )
    return NotFound(name=name, found=False, error=fault)


item = make_builder(
    IngestItem,
    kind="new",
    doc_id=DOC,
    doc_path="ops/backup.md",
    source="notes",
    chunk_count=3,
    embedded=3,
    reused=0,
    warnings=[],
    error=None,
)


ingest_report = make_builder(
    IngestReport,
    scope=["/home/ada/notes"],
    dry_run=False,
    scanned=12,
    new=3,
    updated=0,
    moved=0,
    unchanged=7,
    skipped=2,
    removed=0,
    errors=0,
    cancelled=False,
    duration_ms=1234,
    skipped_by_reason={"binary": 2},
    skipped_by_extension={},
    skip_examples={"binary": ["a.png"]},
    items=[item()],
    embedding=EmbeddingSummary(
        version="fastembed-minilml6-384-v1", embedded=3, reused=0, pending=0, unsupported=0
    ),
    slowest=[SlowFile(doc_path="ops/backup.md", duration_ms=42.0)],
    documents=10,
)


check = make_builder(
    DoctorCheck,
    name="database",
    status="ok",
    summary="integrity check passed",
    fix=None,
    duration_ms=1.5,
)


def repair(outcome: RepairOutcome = "repaired", **changes: Any) -> Repair:
    """Return what was done about a missing vector."""
    return Repair(
        **{
            "check": "vectors",
            "summary": "1 vector of 2 missing",
            "action": "compute it again",
            "outcome": outcome,
            **changes,
        }
    )


def repair_report(*repairs: Repair, **changes: Any) -> RepairReport:
    """Return the report of repairs that end healthy."""
    found = {"ok": True, "dry_run": False, "repairs": list(repairs), "health": doctor(check())}
    return RepairReport(**{**found, **changes})


def doctor(*checks: DoctorCheck, **changes: Any) -> Doctor:
    """Return what doctor found."""
    ok = all(one.status != "fail" for one in checks)
    return Doctor(ok=ok, kebab_version="0.1.0", checks=list(checks), **changes)


def introspection() -> Introspection:
    """Return what an empty knowledge base says of itself."""
    return Introspection(
        kebab_version="0.1.0",
        wire=WireInfo(schemas=["error.v1", "search_response.v1"]),
        capabilities=Capabilities(
            **{name: name == "json_mode" for name in Capabilities.__struct_fields__}
        ),
        models=ModelInfo(
            parser_version="markdown-v1",
            chunker_version="markdown-v1",
            embedding_version=None,
            prompt_template_version=None,
            index_version="lance-flat-l2-384-v1",
            corpus_revision=0,
            active_parsers=["markdown-v1", "text-v1"],
            active_chunkers=["markdown-v1"],
        ),
        stats=Stats(
            doc_count=0,
            chunk_count=0,
            asset_count=0,
            last_ingest_at=None,
            pending_embeddings=0,
            media_breakdown={},
            lang_breakdown={},
            index_bytes=IndexBytes(sqlite=0, lancedb=0),
            stale_doc_count=0,
        ),
    )


model_row = make_builder(
    ModelRow,
    name="all-MiniLM-L6-v2",
    embedding_version="fastembed-minilml6-384-v1",
    dimension=384,
    window=254,
    languages="English",
    installed=True,
    active=True,
    bytes=23_000_000,
    sources=["model hub", "package index"],
)


def model_list() -> ModelList:
    """Return the registry."""
    return ModelList(models=[model_row()], configured="auto")


model_report = make_builder(ModelReport, model=model_row(), fetched=True, embedded=0, pending=0)


def remove_report() -> RemoveReport:
    """Return what `rm` took out."""
    return RemoveReport(removed=[summary()], chunks=3, returns=True)


archive_manifest = make_builder(
    ArchiveManifest,
    format_version=2,
    kebab_version="0.1.0",
    created_at=WHEN,
    index_schema=8,
    embedding_version="fastembed-minilml6-384-v1",
    documents=3,
    chunks=7,
    vectors=7,
    sessions=1,
)


export_report = make_builder(
    ExportReport, path="base.zip", bytes=12_345, manifest=archive_manifest(), duration_ms=5.0
)


import_report = make_builder(
    ImportReport,
    path="base.zip",
    data_dir="/home/ada/.local/share/kebab",
    dry_run=False,
    replaced_documents=None,
    manifest=archive_manifest(),
    duration_ms=5.0,
)


reset_report = make_builder(
    ResetReport,
    data_dir="/home/ada/.local/share/kebab",
    removed=["kebab.db", "vectors"],
    kept=["mine.txt"],
    bytes_freed=12_345,
    models_removed=False,
)


init_report = make_builder(
    InitReport,
    config_path="/home/ada/.config/kebab/config.toml",
    written=True,
    data_dir="/home/ada/.local/share/kebab",
    workspace=None,
)


session_summary = make_builder(
    SessionSummary,
    name="backups",
    turns=2,
    answered=2,
    stopped=0,
    folder="/home/ada",
    first_question="How do I restore a snapshot?",
    created_at=WHEN,
    updated_at=WHEN,
)


def session_list(*sessions: SessionSummary, **changes: Any) -> SessionList:
    """Return a list of sessions."""
    return build(SessionList, changes, sessions=list(sessions), history=True)


session_turn = make_builder(
    SessionTurn,
    turn_index=0,
    question="How do I restore a snapshot?",
    query="How do I restore a snapshot?",
    answer="Stop the writer, then restore the snapshot [1].",
    refusal_reason=None,
    mode="generative",
    model="gemma4:e4b",
    created_at=WHEN,
)


def session_transcript(name: str = "backups", *turns: SessionTurn) -> SessionTranscript:
    """Return a session, without turns one of two."""
    told = list(turns) or [session_turn(), session_turn(turn_index=1, question="And on Fridays?")]
    return SessionTranscript(session=session_summary(name=name, turns=len(told)), turns=told)


def session_removed(*names: str) -> SessionRemoved:
    """Return what forgetting sessions of two turns each did."""
    return SessionRemoved(names=list(names), turns=2 * len(names), found=True)


def source_summary(**changes: Any) -> SourceSummary:
    """Return one source of a list."""
    folder = changes.get("name", "/home/ada/notes")
    return build(
        SourceSummary,
        changes,
        name=folder,
        folder=folder,
        kind="folder",
        state="present",
        documents=3,
        chunks=9,
        last_ingest_at=WHEN,
    )


def source_list(*sources: SourceSummary, **changes: Any) -> SourceList:
    """Return a list of sources."""
    return build(SourceList, changes, sources=list(sources), workspace=None)


def publish_report(**changes: Any) -> PublishReport:
    """Return what was published."""
    fields: dict[str, Any] = {
        "dest": "s3://bucket/base",
        "created_at": "2026-11-27T10:00:00.000Z",
        "documents": 3,
        "chunks": 7,
        "vectors": 7,
        "added": 2,
        "removed": 1,
        "bytes": 12_345,
        "sent_bytes": 1_234,
        "duration_ms": 5.0,
    }
    return PublishReport(**{**fields, **changes})


def published_base(**changes: Any) -> PublishedBase:
    """Return a published base with a copy."""
    fields: dict[str, Any] = {
        "name": "docs",
        "url": "https://docs.example.org/kb",
        "mode": "pull",
        "documents": 3,
        "chunks": 7,
        "created_at": "2026-11-27T10:00:00.000Z",
        "checked_at": "2026-11-27T11:00:00.000Z",
        "problem": None,
        "coverage": None,
    }
    return PublishedBase(**{**fields, **changes})


def source_added(**changes: Any) -> SourceAdded:
    """Return the base that was added."""
    fields: dict[str, Any] = {"base": published_base(), "pulled_bytes": 12_345, "duration_ms": 5.0}
    return SourceAdded(**{**fields, **changes})


def source_removed(**changes: Any) -> SourceRemoved:
    """Return which source was removed."""
    fields = {"source": source_summary(), "dry_run": False, "returns": False}
    return SourceRemoved(**{**fields, **changes})


def review_applied(request: ReviewApplyRequest) -> ReviewApplied:
    """One fixed file, none for the run `clean`."""
    file = AppliedFile(
        file="/home/ada/notes/a.md",
        backup=None if request.dry_run else "/home/ada/notes/a.md.orig",
        applied=1,
        overlapping=1,
        diff="--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-Open the the door.\n+Open the door.\n",
    )
    files = [] if request.run_id == "clean" else [file]
    return ReviewApplied(run_id=request.run_id, dry_run=request.dry_run, files=files)


def coverage(**fields: Any) -> Coverage:
    """Return what an index covers: everything, but for these fields."""
    values: dict[str, Any] = {
        "files": 5003,
        "unread": 0,
        "failed": 0,
        "changed": 0,
        "new": 0,
        "gone": 0,
        "checked": 5003,
        "checked_at": "2025-01-31T12:00:00Z",
        "unchecked_folders": 0,
        "unlisted": [],
        "pending_vectors": 0,
        "partial": 0,
        "indexing": None,
    }
    return Coverage(complete=not fields, **(values | fields))
