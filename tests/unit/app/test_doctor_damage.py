"""Damages a knowledge base in many ways; doctor has to notice each of them."""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from kebab.app.doctor import check_health
from kebab.app.review import review
from kebab.app.search import search
from kebab.core.progress import Cancel
from kebab.embed.registry import E5_SMALL
from kebab.errors.catalog import NotIndexed
from kebab.errors.signal import Signal
from kebab.wire.health import DoctorRequest
from kebab.wire.review import ReviewRequest
from kebab.wire.search import SearchRequest

SQL = {
    "text_changed": "UPDATE chunks SET text = text || ' not' WHERE key = 2",
    "text_not_utf8": "UPDATE chunks SET text = CAST(x'41fffe42' AS TEXT) WHERE key = 2",
    "text_hash_changed": "UPDATE chunks SET text_hash = embed_hash WHERE key = 2",
    "title_changed": "UPDATE documents SET title = 'Another' WHERE doc = 2",
    "headings_changed": "UPDATE chunks SET heading_path = '[\"Another\"]' WHERE key = 2",
    "headings_not_json": "UPDATE chunks SET heading_path = '[\"Anoth' WHERE key = 2",
    "chunk_deleted": "DELETE FROM chunks WHERE key = 2",
    "document_deleted": "DELETE FROM documents WHERE doc = 2",
    "source_deleted": "DELETE FROM sources",
    "asset_deleted": "DELETE FROM assets WHERE asset = 2",
    "state_deleted": "DELETE FROM vectors WHERE key = 2",
    "states_of_nothing": "INSERT INTO vectors VALUES (999, 'committed', 'v')",
    "words_emptied": "INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')",
    "words_of_one_deleted": "DELETE FROM chunks_fts WHERE rowid = 2",
    "words_replaced": "DELETE FROM chunks_fts WHERE rowid = 2;"
    " INSERT INTO chunks_fts (rowid, title, headings, body) VALUES (2, 'x', 'y', 'z')",
    "words_of_nothing": "INSERT INTO chunks_fts (rowid, body) VALUES (999, 'x')",
    "index_dropped": "DROP INDEX chunks_doc",
    "table_dropped": "DROP TABLE document_tags",
    "lines_out_of_order": "UPDATE chunks SET start_line = 9, end_line = 3 WHERE key = 2",
    "chunk_order_changed": "UPDATE chunks SET ordinal = 7 WHERE key = 2",
    "revision_not_a_number": "UPDATE kv SET value = 'x' WHERE name = 'corpus_revision'",
    "salt_missing": "DELETE FROM kv WHERE name = 'cursor_salt'",
    "version_changed": "UPDATE kv SET value = 'nothing-7-v0' WHERE name = 'embedding_version'",
    "schema_version_changed": "PRAGMA user_version = 1",
}


def execute(sql: str) -> Callable[[Path], None]:
    """Return a damage by SQL, without the checks that protect a sound database."""

    def act(data: Path) -> None:
        with closing(apsw.Connection(str(data / "kebab.sqlite"))) as database:
            database.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            database.execute(sql)

    return act


def find(data: Path, pattern: str) -> Path:
    return max(data.glob(pattern), key=lambda path: path.stat().st_size)


def change_file(pattern: str, act: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(data: Path) -> None:
        act(find(data, pattern))

    return damage


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path, share: float = 0.5) -> None:
    raw = bytearray(path.read_bytes())
    start = int(len(raw) * share)
    for index in range(start, min(start + 64, len(raw))):
        raw[index] ^= 0x55
    path.write_bytes(raw)


def flip_page(path: Path) -> None:
    """Change bytes of a page that holds chunks."""
    raw = path.read_bytes()
    at = raw.index(b"number 3 bakes")
    path.write_bytes(raw[: at + 3] + b"#" + raw[at + 4 :])


def flip_tree(path: Path) -> None:
    """Change the first bytes of the root page of the chunks."""
    with closing(apsw.Connection(str(path))) as database:
        sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'chunks'"
        page, size = database.execute(sql).get, database.execute("PRAGMA page_size").get
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x55" * 16)


def flip_vector(path: Path) -> None:
    """Change bytes in the middle of the vectors."""
    flip(path, 0.4)


FILES = {
    "database_emptied": change_file("kebab.sqlite", lambda path: path.write_bytes(b"")),
    "database_cut": change_file("kebab.sqlite", cut),
    "database_overwritten": change_file(
        "kebab.sqlite", lambda path: path.write_bytes(b"\xff" * path.stat().st_size)
    ),
    "page_of_text_flipped": change_file("kebab.sqlite", flip_page),
    "page_of_tree_flipped": change_file("kebab.sqlite", flip_tree),
    "database_removed": change_file("kebab.sqlite", Path.unlink),
    "lance_removed": lambda data: shutil.rmtree(data / "lance"),
    "table_removed": change_file("lance/*.lance", shutil.rmtree),
    "table_data_removed": change_file("lance/*.lance/data/*", Path.unlink),
    "table_data_cut": change_file("lance/*.lance/data/*", cut),
    "table_data_flipped": change_file("lance/*.lance/data/*", flip_vector),
    "table_manifest_removed": change_file("lance/*.lance/_versions/*.manifest", Path.unlink),
    "table_manifest_cut": change_file("lance/*.lance/_versions/*.manifest", cut),
    "key_file_cut": change_file("lance/*.keys", cut),
    "key_file_flipped": change_file("lance/*.keys", flip),
    "key_file_removed": change_file("lance/*.keys", Path.unlink),
    "model_cut": lambda data: cut(data.parent / "models" / E5_SMALL.version / "model.onnx"),
    "model_flipped": lambda data: flip(data.parent / "models" / E5_SMALL.version / "model.onnx"),
    "tokenizer_removed": lambda data: (
        data.parent / "models" / E5_SMALL.version / "tokenizer.json"
    ).unlink(),
}
DAMAGES = {**{name: execute(sql) for name, sql in SQL.items()}, **FILES}

HARMLESS = {
    "key_file_cut": "readers and the next ingest write it again from the table",
    "key_file_flipped": "readers and the next ingest write it again from the table",
    "key_file_removed": "readers and the next ingest write it again from the table",
}
"""Damages that doctor does not report, each with the reason."""


EXPECTED = {
    None,
    *("store_corrupt", "not_indexed", "embedding_unavailable", "embedding_mismatch", "io_error"),
}
"""What a search in a damaged store may end with."""


def find_code(desk, mode):
    """Return the code of a failed search."""
    try:
        search(desk.context(), SearchRequest(query="number bread", mode=mode))
    except Signal as signal:
        return signal.code
    return None


@pytest.fixture
def full(desk, own_models):
    assert own_models == desk.data.parent / "models"
    for number in range(8):
        text = f"# Note {number}\n\nnumber {number} bakes bread\n\n# B\n\nmore\n"
        desk.write(f"n{number}.md", text)
    desk.ingest()
    return desk


def list_findings(desk, **flags):
    checks = check_health(desk.context(**flags), DoctorRequest()).checks
    return {check.name for check in checks if check.status in ("fail", "warn")} - {"language_model"}


def test_a_sound_knowledge_base_has_no_finding(full):
    assert list_findings(full) == set()


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_doctor_notices_the_damage_and_a_search_ends_with_hits_or_a_signal(full, name):
    DAMAGES[name](full.data)

    assert name in HARMLESS or list_findings(full)
    codes = {find_code(full, mode) for mode in ("hybrid", "lexical", "vector")}
    assert codes <= EXPECTED


def find_reviews(desk):
    """Return what doctor says about the stored reviews."""
    (found,) = [
        check
        for check in check_health(desk.context(), DoctorRequest()).checks
        if check.name == "reviews"
    ]
    return found


def store_review(desk):
    file = desk.write("a.md", "the the cat\n")
    request = ReviewRequest(names=[str(file)], no_llm=True)
    return review(desk.context(), request, lambda _: None, Cancel())


def test_intact_reviews_are_well_and_unchanged(desk):
    store_review(desk)
    before = desk.tree()

    assert find_reviews(desk).status == "ok"
    assert find_reviews(desk).summary.startswith("1 run stored, ")
    assert desk.tree() == before


@pytest.mark.parametrize("damage", ["foreign", "truncated", "table_dropped"])
def test_damaged_reviews_are_found_and_leave_the_index_alone(desk, damage):
    store_review(desk)
    desk.ingest()
    file = desk.data / "reviews.sqlite"
    if damage == "table_dropped":
        with closing(apsw.Connection(str(file))) as database:
            database.execute("DROP TABLE cursors")
    else:
        file.with_name(f"{file.name}-wal").unlink(missing_ok=True)
        content = b"no database " * 500 if damage == "foreign" else file.read_bytes()[:5000]
        file.write_bytes(content)
    found = find_reviews(desk)

    assert found.status == "fail"
    assert found.fix == "kebab doctor --fix"
    assert search(desk.context(), SearchRequest(query="cat", mode="lexical")).hits
    assert not desk.ingest().errors
    file.rename(f"{file}.old")
    assert store_review(desk).items
    assert find_reviews(desk).status == "ok"


def test_reviews_of_a_newer_build_are_named(desk):
    store_review(desk)
    with closing(apsw.Connection(str(desk.data / "reviews.sqlite"))) as database:
        database.execute("PRAGMA user_version = 9")
    found = find_reviews(desk)

    assert found.summary == (
        f"cannot read {desk.data}/reviews.sqlite: its schema is 9, this build reads 3"
    )
    assert found.fix == "pip install --upgrade kebab"
    with pytest.raises(NotIndexed, match=r"cannot read .*reviews\.sqlite"):
        store_review(desk)
