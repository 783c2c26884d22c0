import base64
import json
import random

import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.core.media import detect_media_type
from kebab.errors.catalog import ParseFailed
from kebab.parse.registry import PARSERS
from kebab.parse.text import data
from kebab.parse.text.data import (
    DataParser,
    Region,
    cut_regions,
    find_header,
    find_table_spans,
    scan_json,
    scan_sections,
    scan_xml,
    scan_yaml,
)
from tests.shape.tree import ROOT

LONG = "".join(f'    "k{number}": 1,\n' for number in range(6))


def list_json(text):
    return [(region.label, region.first, region.last) for region in scan_json(text) or ()]


def list_yaml(text):
    return [(one.label, one.first, one.head, one.last) for one in scan_yaml(text.split("\n"))]


def test_text_in_strings_is_no_structure():
    assert list_json('{\n"a": ["\\"{[", "}"\n' + ', "b"\n' * 6 + "]\n}") == [("a", 1, 9)]


def test_comments_of_lines_are_no_structure():
    assert list_json('{ // {"x": [\n "a": {\n' + LONG + "}\n}") == [("a", 1, 9)]


def test_a_file_without_its_end_keeps_its_keys():
    assert list_json('{\n  "a": {\n' + LONG) == [("a", 1, 9)]


@pytest.mark.parametrize("text", ["]", "[}", '{"a": [}]'])
def test_brackets_that_do_not_match_are_noticed(text):
    assert scan_json(text) is None


def test_keys_of_yaml_end_where_the_indent_does():
    text = "a:\n  b:\n" + "    - 1\n" * 6 + "  c: 1\nd: 2\n"
    assert list_yaml(text) == [("a", 0, 1, 9), ("b", 1, 2, 8)]


def test_block_scalars_have_no_keys():
    text = "a: |\n  b:\n" + "    c: 1\n" * 6 + "d: 1\n"
    assert list_yaml(text) == [("a", 0, 1, 8)]


def test_comments_above_a_key_belong_to_it():
    text = "x: 1\n# Why.\na:\n" + "  b: 1\n" * 6 + "# Next.\nc: 1\n"
    assert list_yaml(text) == [("a", 1, 3, 9)]


def test_quoted_keys_lose_their_quotes():
    assert list_yaml('"a b":\n' + "  c: 1\n" * 6)[0][0] == "a b"


def test_sections_of_settings():
    lines = ["x = 1", "; about", "[a.b]", "y = 1", "[[c]] # d", 'z = """', "[no]", '"""']
    assert [tuple(region) for region in scan_sections(lines)] == [("a.b", 1, 3, 4), ("c", 4, 5, 8)]


@pytest.mark.parametrize(
    "text", ["/* " * 300_000, '"a ' * 300_000, "[" * 300_000, '"' + "\\" * 10**6]
)
@pytest.mark.processor_s(5)
def test_hostile_json_takes_linear_time(text):
    scan_json(text)


@pytest.mark.parametrize("line", ["[a" + " " * 10**6, "a" + " " * 10**6, ":" * 10**6, '"' * 10**6])
@pytest.mark.processor_s(5)
def test_hostile_lines_take_linear_time(line):
    scan_sections([line])
    scan_yaml([line])


SAMPLES = sorted((ROOT / "samples" / "formats" / "data").iterdir())


def list_passages(kind, text, path="a"):
    document = DataParser(kind).parse(text.encode(), path)
    return [
        (" > ".join(chunk.heading_path), chunk.start_line, chunk.end_line)
        for chunk in split_document(document, Budget())
    ]


def list_warnings(kind, data, path="a"):
    return DataParser(kind).parse(data, path).warnings


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_cited_lines_of_the_file_hold_the_passage(sample):
    data = sample.read_bytes()
    media = detect_media_type(sample.name)
    assert media is not None
    document = PARSERS[media].parse(data, sample.name)
    lines = data.decode().split("\n")
    chunks = split_document(document, Budget())
    assert chunks
    for chunk in chunks:
        cited = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.text == cited or "&amp;" in cited


def test_the_samples_are_all_kinds_of_data():
    media = {detect_media_type(path.name) for path in SAMPLES}
    assert media == {name for name, parser in PARSERS.items() if parser.version == "data-v5"}


def test_long_values_of_json_are_sections_and_short_ones_stay_together():
    text = (ROOT / "samples/formats/data/package.json").read_text(encoding="utf-8")
    assert list_passages("json", text) == [
        ("", 1, 4),
        ("scripts", 5, 11),
        ("servers", 12, 14),
        ("servers > limits", 15, 21),
        ("", 24, 25),
    ]


def test_documents_of_yaml_are_named_by_their_kind():
    text = (ROOT / "samples/formats/data/cluster.yaml").read_text(encoding="utf-8")
    assert list_passages("yaml", text) == [
        ("Deployment tides", 1, 3),
        ("Deployment tides > metadata", 4, 10),
        ("Deployment tides > spec", 11, 13),
        ("Deployment tides > spec > script", 14, 20),
        ("Deployment tides > spec", 21, 21),
        ("Service front", 23, 29),
    ]


def test_elements_of_xml_are_sections_by_their_names():
    text = (ROOT / "samples/formats/data/stations.xml").read_text(encoding="utf-8")
    assert list_passages("xml", text) == [("", 1, 2), ("station pier", 3, 11), ("", 12, 15)]


def test_a_lock_file_is_searched_by_its_head_only():
    data = b"{\n" + b'"a": 1,\n' * 100 + b"}"
    warnings = list_warnings("json", data, "web/package-lock.json")
    assert warnings == ("lock file: only the first 40 of 102 lines are searched",)


def test_brackets_that_do_not_match_are_text():
    data = b'{"a": [\n}' + b"1,\n" * 10
    assert list_warnings("json", data) == ("brackets do not match: read as text",)


def search_all(document):
    chunks = split_document(document, Budget())
    assert {chunk.start_line for chunk in chunks} == {1}
    return chunks


RECORDS = [{"id": number, "note": f"item{number} of the list"} for number in range(2_000)]
SECTIONS = "".join(
    f"<sec><title>Part {number}</title><p>item{number} of <i>the</i> text. It ends.</p></sec>"
    for number in range(2_000)
)


@pytest.mark.parametrize(
    ("kind", "text", "label", "starts"),
    [
        ("json", json.dumps({"version": 1, "records": RECORDS}), "records", "{["),
        ("xml", f"<r><body>{SECTIONS}</body></r>", "body", "<"),
    ],
)
def test_one_long_line_is_searched_to_its_end_and_cut_at_its_structure(kind, text, label, starts):
    document = DataParser(kind).parse(text.encode(), "a")
    chunks = search_all(document)
    assert document.text == text
    assert document.warnings == ()
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    found = "".join(chunk.text for chunk in chunks)
    assert all(f"item{number} " in found for number in range(2_000))
    assert chunks[-1].heading_path == (label,)
    # A passage begins with a record or an element; one in forty may begin within it.
    broken = [chunk for chunk in chunks if chunk.text[0] not in f'{starts}"']
    assert len(broken) * 40 < len(chunks)


def test_numbers_and_encoded_data_of_one_line_are_left_out_and_said():
    encoded = base64.b64encode(random.Random(1).randbytes(3_000)).decode()
    text = json.dumps({"name": "vector", "values": [0.25] * 2_000, "data": encoded, "end": "last"})
    document = DataParser("json").parse(text.encode(), "a")
    passages = [chunk.text for chunk in search_all(document)]
    assert "0.25, 0.25" not in passages[-1]
    assert encoded[:40] not in "".join(passages)
    assert '"last"' in passages[-1]
    assert [one.partition(":")[0] for one in document.warnings] == [
        "left out as encoded, minified or repeated data",
        "left out as long runs of numbers",
    ]


@pytest.mark.parametrize(
    ("end", "warning"),
    [
        ("\n", "only the first 20 of 30 lines are searched"),
        (" ", "only the first 80 of 120 characters are searched"),
    ],
)
def test_of_a_file_above_the_limit_the_beginning_is_searched(monkeypatch, end, warning):
    monkeypatch.setattr(data, "MAX_CHARS", 80)
    document = DataParser("table").parse(f"a,b{end}".encode() * 30, "a.csv")
    assert document.warnings == (warning,)
    assert document.blocks[-1].end in {79, 80}
    assert len(document.text) == 120


def test_long_runs_of_numbers_are_not_searched():
    text = '{"name": "vector", "values": [\n' + "  0.25,\n" * 30 + "  1\n]}\n"
    assert list_passages("json", text) == [("values", 1, 1)]


def test_a_row_of_several_lines_is_never_cut():
    rows = "".join(f'{number},"first line\nsecond line {"x" * 30}"\n' for number in range(60))
    document = DataParser("table").parse(f"id,note\n{rows}".encode(), "a.csv")
    for chunk in split_document(document, Budget()):
        assert chunk.text.count('"') % 2 == 0


@pytest.mark.parametrize("kind", ["json", "xml"])
def test_bytes_that_are_no_text_are_refused(kind):
    with pytest.raises(ParseFailed, match="binary data"):
        DataParser(kind).parse(bytes(range(256)) * 4, "a")


def list_spans(regions, lines):
    return [
        (span.label or "-", span.first, span.last, span.level or span.ends)
        for span in cut_regions(regions, lines)
    ]


def test_a_region_on_the_line_of_another_heading_is_left_out():
    assert list_spans([Region("a", 0, 1, 3), Region("b", 0, 1, 3)], 3) == [
        ("a", 0, 1, 1),
        ("-", 1, 3, 2),
    ]


def list_rows(text):
    return [(span.first, span.last, span.label) for span in find_table_spans(text.split("\n"))]


def test_a_stray_quote_is_no_row_of_many_lines():
    assert list_rows('a,b\n1,5"\n' + "2,3\n" * 300) == [(0, 303, "")]


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("name,city", "name,city"),
        ("Ada,42", ""),
        ("one column", ""),
        (",".join(["name"] * 200), ""),
    ],
)
def test_a_header_names_columns(line, header):
    assert find_header([line]) == header


BODY = "<p>x</p>\n" * 8


def list_regions(text):
    return [(region.label, region.first, region.last) for region in scan_xml(text)[0]]


def test_a_long_element_is_a_region_below_the_root():
    text = f'<r>\n<a id="1" name="n">\n{BODY}</a>\n<b/>\n</r>\n'
    assert list_regions(text) == [("a n", 1, 11)]


@pytest.mark.parametrize("text", ["<a>\n</b>", "<a></a>plain"])
def test_a_broken_file_is_text(text):
    regions, fault = scan_xml(text)
    assert regions == []
    assert "read as text" in fault


def test_entities_are_refused():
    bomb = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><a>&d;</a>'
    assert scan_xml(bomb) == ([], "the file declares entities: read as text")
