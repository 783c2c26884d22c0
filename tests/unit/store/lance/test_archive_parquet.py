import re
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key
from kebab.store.archive_file import ExportedPassage
from kebab.store.lance import archive as writer
from tests.fakes.vectors import MemoryVectors

DOCS = Path(__file__).parents[4] / "docs" / "many-machines.md"
UNIT, OTHER = np.array([0.6, 0.8], np.float32), np.array([0.0, 1.0], np.float32)


def _build_index():
    """Return the vectors of the passages with even keys."""
    index = MemoryVectors()
    index.append(
        [
            VectorRow(Key(key), ChunkId(f"c{key}"), DocId("d"), UNIT if key else OTHER)
            for key in range(0, 8, 2)
        ]
    )
    return index


def _list_passages(count):
    for key in range(count):
        yield ExportedPassage(
            key=Key(key),
            id=f"c{key}",
            doc_id="d",
            source="/notes",
            path="deep/ä.md",
            title="Ä",
            heading_path=("Ä", "b"),
            text=f"text {key}\n",
            start_line=key,
            end_line=key + 1,
            hash="00",
            lang=None,
            media="text/markdown",
            tags=(),
            model=None if key % 2 else "m-2-v1",
        )


def test_groups_are_written_one_after_another_and_vectors_are_lists_of_one_size(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(writer, "_GROUP_ROWS", 3)
    path = tmp_path / "x.parquet"
    with path.open("wb") as file:
        groups = list(writer.write_passages(file, _list_passages(7), _build_index(), 2))

    found = parquet.ParquetFile(path)
    assert (len(groups), found.num_row_groups) == (3, 3)
    table = found.read()
    assert str(table.schema.field("vector").type) == "fixed_size_list<element: float>[2]"
    rows = table.to_pylist()
    assert [row["id"] for row in rows] == [f"c{key}" for key in range(7)]
    assert (rows[0]["vector"], rows[2]["vector"]) == ([0, 1], pytest.approx([0.6, 0.8]))
    assert [row["vector"] is None for row in rows] == [bool(key % 2) for key in range(7)]
    assert (rows[1]["heading_path"], rows[1]["tags"], rows[1]["lang"]) == (["Ä", "b"], [], None)
    assert (rows[1]["text"], rows[1]["start_line"], rows[1]["model"]) == ("text 1\n", 1, None)


def test_without_vectors_there_is_no_such_column(tmp_path):
    with (tmp_path / "x.parquet").open("wb") as file:
        list(writer.write_passages(file, _list_passages(0), None, 0))

    assert parquet.read_table(tmp_path / "x.parquet").column_names[-1] == "model"


def test_the_example_of_the_documentation_reads_an_export(tmp_path, monkeypatch, capsys):
    path = tmp_path / "passages.parquet"
    with path.open("wb") as file:
        list(writer.write_passages(file, _list_passages(7), _build_index(), 2))
    monkeypatch.chdir(tmp_path)
    (example,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
        if "parquet" in block
    ]
    exec(example, {})

    assert capsys.readouterr().out.splitlines() == ["7 passages", "4 vectors of 2 numbers"]
