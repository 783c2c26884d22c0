import pytest
from msgspec.structs import replace

from kebab.store.sqlite import chunks, fts, reader
from tests.fakes.rows import document


def test_moved_headings_are_searched_under_their_new_name(stored):
    row = document("a.md", ["body"], headings=("Old",))
    stored.put_document(row)
    first = row.chunks[0]
    moved = first._replace(chunk=first.chunk._replace(heading_path=("New",)))
    written = stored.put_document(replace(row, chunks=(moved,)))
    assert (written.kept, written.added) == (1, 0)
    assert fts.get_document_frequencies(stored.database, ["New", "Old"]) == {"New": 1, "Old": 0}


@pytest.mark.parametrize(
    "look",
    [reader.count_pending, lambda database: chunks.list_pending(database, 9)],
)
def test_pending_chunks_are_found_without_scanning_committed_ones(stored, look):
    keys = stored(["one", "two"])
    stored.database.execute("UPDATE vectors SET state = 'committed' WHERE key = ?", keys[:1])
    asked = []

    def note(_, sql, values):
        asked.append((sql, values))
        return True

    stored.database.exec_trace = note
    look(stored.database)
    stored.database.exec_trace = None

    ((sql, values),) = asked
    plan = [row[3] for row in stored.database.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    first = next(step for step in plan if step.startswith(("SCAN", "SEARCH")))
    assert "vectors_open" in first
