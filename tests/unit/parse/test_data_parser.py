import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.core.media import detect_media_type
from kebab.errors.catalog import ParseFailed
from kebab.parse.data import DataParser
from kebab.parse.registry import PARSERS
from tests.shape.tree import ROOT

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
        assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


def test_the_samples_are_all_kinds_of_data():
    media = {detect_media_type(path.name) for path in SAMPLES}
    assert media == {name for name, parser in PARSERS.items() if parser.version == "data-v1"}


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


def test_sections_begin_with_the_comments_above_them():
    text = (ROOT / "samples/formats/data/settings.toml").read_text(encoding="utf-8")
    assert list_passages("sections", text) == [("", 1, 1), ("source", 3, 9), ("station", 11, 12)]


def test_elements_of_xml_are_sections_by_their_names():
    text = (ROOT / "samples/formats/data/stations.xml").read_text(encoding="utf-8")
    assert list_passages("xml", text) == [("", 1, 2), ("station pier", 3, 11), ("", 12, 15)]


def test_a_name_that_says_little_is_shown_with_its_folder():
    parse = DataParser("json").parse
    assert parse(b"{}", "shop/package.json").title == "shop/package.json"
    assert parse(b"{}", "shop/cities.json").title == "cities.json"


def test_a_lock_file_is_searched_by_its_head_only():
    data = b"{\n" + b'"a": 1,\n' * 100 + b"}"
    warnings = list_warnings("json", data, "web/package-lock.json")
    assert warnings == ("lock file: only the first 40 lines are searched",)


def test_brackets_that_do_not_match_are_text():
    data = b'{"a": [\n' + b"1,\n" * 10
    assert list_warnings("json", data) == ("brackets do not match: read as text",)


def test_of_a_long_list_the_first_members_are_searched():
    text = "[\n" + "".join(f' "item {number}",\n' for number in range(1_500)) + ' "last"\n]\n'
    document = DataParser("json").parse(text.encode(), "a.json")
    assert document.warnings == ("lists of which only the first 1,000 members are searched: 1",)
    searched = "\n".join(document.text[block.start : block.end] for block in document.blocks)
    assert "item 999" in searched
    assert "item 1000" not in searched


def test_of_a_long_line_the_beginning_is_searched():
    document = DataParser("json").parse(b'{"a": "' + b"word " * 1_000_000 + b'"}', "a.json")
    assert sum(block.end - block.start for block in document.blocks) == 10_000
    assert document.warnings == ("lines of which only the first 10,000 characters are searched: 1",)


def test_of_many_lines_the_first_are_searched():
    document = DataParser("table").parse(b"a,b\n" * 30_000, "a.csv")
    assert document.warnings == ("only the first 20,000 of 30,000 lines are searched",)
    assert document.text.count("\n", 0, document.blocks[-1].end) == 19_999


def test_long_runs_of_numbers_are_not_searched():
    text = '{"name": "vector", "values": [\n' + "  0.25,\n" * 30 + "  1\n]}\n"
    assert list_passages("json", text) == [("values", 1, 1)]


def test_a_row_of_several_lines_is_never_cut():
    rows = "".join(f'{number},"first line\nsecond line {"x" * 30}"\n' for number in range(60))
    document = DataParser("table").parse(f"id,note\n{rows}".encode(), "a.csv")
    for chunk in split_document(document, Budget()):
        assert chunk.text.count('"') % 2 == 0


@pytest.mark.parametrize("kind", ["json", "lines", "yaml", "sections", "table", "xml"])
def test_bytes_that_are_no_text_are_refused(kind):
    with pytest.raises(ParseFailed, match="binary data"):
        DataParser(kind).parse(bytes(range(256)) * 4, "a")
