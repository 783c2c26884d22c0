import json

import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.errors.catalog import ParseFailed
from kebab.parse.text.notebook import NotebookParser
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"


def read_sample(name):
    return NotebookParser().parse((SAMPLES / name).read_bytes(), name)


def parse_cells(*cells, **metadata):
    content = {"nbformat": 4, "metadata": metadata, "cells": cells}
    return NotebookParser().parse(json.dumps(content).encode(), "a.ipynb")


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def markdown(source):
    return {"cell_type": "markdown", "source": source}


def test_a_passage_is_in_the_cell_that_is_cited():
    chunks = split_document(read_sample("tides.ipynb"), Budget())
    cells = json.loads((SAMPLES / "tides.ipynb").read_text(encoding="utf-8"))["cells"]
    assert [chunk.place.number for chunk in chunks if chunk.place] == [0, 1, 2, 3, 4, 5]
    for chunk in chunks:
        assert chunk.place is not None
        assert "".join(cells[chunk.place.number]["source"]) in chunk.text


def test_the_notebook_says_its_title_authors_and_links():
    document = read_sample("tides.ipynb")
    assert document.title == "Tides of a harbour"
    assert document.metadata.authors == ("Ada Gray",)
    assert document.links == ("moon.md",)


def test_a_notebook_of_format_3_is_read_and_markdown_as_it_is_seen():
    heading = {"cell_type": "heading", "level": 2, "source": ["Dipper"]}
    cell = {"cell_type": "code", "input": ["eel = 1"], "outputs": [{"text": ["nymph"]}]}
    sheets = [{"cells": [heading, cell]}, {"cells": [markdown("M&uuml;nchen snake\\_case")]}]
    document = NotebookParser().parse(json.dumps({"worksheets": sheets}).encode(), "a.ipynb")
    fences = "```\neel = 1\n```\n\n```text\nnymph\n```"
    assert document.text == f"## Dipper\n\n{fences}\n\nMünchen snake_case"


def test_outputs_are_text_without_images_and_colours():
    text = read_sample("tides.ipynb").text
    assert "```text\n0.9974949866040544\n```" in text
    assert "ZeroDivisionError: division by zero" in text
    assert "Figure" not in text
    assert "iVBOR" not in text
    assert "\x1b" not in text


def test_forms_of_outputs_that_are_not_shown_are_named():
    shown = {"image/png": "iVBOR", "text/plain": "<Figure>", "text/markdown": "**caption**"}
    table = {"text/plain": "a", "text/html": "<td>b &amp;</td>"}
    document = parse_cells(
        code(
            "x", {"data": shown}, {"data": table}, {"output_type": "error", "traceback": ["line 9"]}
        )
    )

    assert "caption" in document.text
    assert document.omissions == (("other forms of outputs", "b & line 9"),)


def test_a_long_output_is_shortened():
    document = read_sample("tides.ipynb")
    assert "hour 39\n…" in document.text
    assert document.warnings == ("long outputs are shortened: 1",)


def test_a_cell_that_is_empty_still_counts():
    document = parse_cells(code(""), markdown("one"))
    assert [place.number for place in document.places] == [1]


def test_front_matter_of_a_cell_is_metadata():
    document = parse_cells(
        {"cell_type": "raw", "source": "---\ntitle: T\ntags: [a]\n---\n"}, code("x")
    )
    assert (document.title, document.metadata.tags) == ("T", ("a",))


@pytest.mark.parametrize(
    "cell",
    [
        7,
        {"cell_type": "code", "source": 5, "outputs": 3},
        {"cell_type": "code", "source": ["x", 1], "outputs": [1, {"data": [], "text": {}}]},
        {},
    ],
)
def test_a_cell_of_another_shape_does_no_harm(cell):
    assert parse_cells(cell, markdown("ok")).text.endswith("ok")


@pytest.mark.parametrize("metadata", [{"authors": 1}, {"authors": [1]}, {"kernelspec": []}])
def test_metadata_of_another_shape_does_no_harm(metadata):
    assert parse_cells(markdown("ok"), **metadata).text == "ok"


def test_too_many_cells_are_cut_off(monkeypatch):
    monkeypatch.setattr("kebab.parse.text.notebook._MAX_CELLS", 2)
    document = parse_cells(*map(markdown, ("one", "two", "three", "four")))
    assert document.warnings == ("only the first 2 of 4 cells are searched",)
    assert document.text.endswith("two")


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"{", "damaged: not JSON"),
        (b"[" * 100_000, "damaged: not JSON"),
        (b"[]", "no notebook: it has no cells"),
        (b'{"cells": 1}', "no notebook: it has no cells"),
    ],
)
def test_a_file_that_is_no_notebook_is_refused(data, cause):
    with pytest.raises(ParseFailed) as refused:
        NotebookParser().parse(data, "a.ipynb")
    assert refused.value.cause == cause
