import pytest

from kebab.core.content import detect_media
from kebab.errors.catalog import ParseFailed
from kebab.parse.office.iwork import KeynoteParser, NumbersParser, PagesParser, PreviewParser
from tests.unit.parse.office.iwork_files import build_iwork, build_table, cell, zipped
from tests.unit.parse.office.test_old_office import SAMPLES


def refer(*numbers):
    return [{1: number} for number in numbers]


def attribute(*entries):
    """Return a table of attributes: objects, 0 for none, by the offsets where they begin."""
    return {1: [{1: at, **({2: {1: one}} if one else {})} for at, one in entries]}


def parse(parser, objects, **options):
    return parser().parse(build_iwork(objects, **options), "a")


STYLES = {
    50: (2022, {1: {1: "제목", 2: "text-0-paragraphstyle-Title"}}),
    51: (2022, {1: {1: "Heading 2"}}),
    52: (2022, {1: {3: {1: 51}}}),  # a variation of it without a name
    53: (2022, {1: {1: "Heading Note", 3: {1: 50}}}),
}


def test_the_body_of_pages_has_headings_lists_notes_comments_and_tables():
    lines = ("등대 😀", "Oil", "gone keep\ufffc\x0e", "level", "inner", "end")
    text = "\n".join(lines)
    starts = [len("\n".join([*lines[:n], ""]).encode("utf-16-le")) // 2 for n in range(6)]
    body = {
        3: text,
        5: attribute((0, 50), (starts[1], 52), (starts[2], 53)),
        9: attribute((starts[3] - 3, 60)),
        16: attribute((starts[3] - 2, 61)),
        22: attribute((starts[2], 99), (starts[2] + 5, 0)),
        23: attribute((starts[2] + 5, 62), (starts[3] - 3, 0)),
    }
    objects = {
        1: (10000, {4: {1: 2}}),
        2: (2001, body),
        3: (2011, {4: {1: 4}}),
        4: (2001, {3: "beside the text"}),
        5: (2001, {3: "never shown"}),
        60: (2003, {1: {1: 70}}),
        61: (2008, {2: {1: 63}}),
        62: (2013, {1: {1: 64}}),
        63: (2001, {3: "\x0esee below"}),
        64: (3056, {1: "Why?", 3: {1: 65}, 4: refer(66)}),
        65: (212, {1: "Ada"}),
        66: (3056, {1: "So."}),
        **STYLES,
        **build_table(70, {0: {0: cell(3, 8, "<I", 1), 1: cell(2, 2, "<d", 1.5)}}, ["a"]),
    }
    for is_nested in (False, True):
        document = parse(PagesParser, objects, is_nested=is_nested)
        assert document.text == (
            "# 등대 😀\n\n## Oil\n\nkeep\n\n| a | 1.5 |\n\n> Note: see below\n\n"
            "> Comment by Ada: Why?\n\n> Comment: So.\n\nlevel\n\n"
            "inner\n\nend\n\nbeside the text"
        )
        assert (document.title, document.warnings) == ("등대 😀", ())
        assert dict(document.omissions) == {
            "deleted text": "gone",
            "headers, footers and templates": "never shown",
        }


def test_slides_have_titles_notes_and_charts_in_their_order():
    names = {1: ["2024", "2025"], 2: ["Q1", "Q2"]}
    values = [{1: {1: b"\0\0\0\0\0\0\xf0?"}}, {1: [{1: b"\0\0\0\0\0\0\0@"}, {}]}]
    slide = {5: refer(20), 6: refer(21), 7: refer(22, 23, 24), 20: refer(24), 27: refer(30)}
    objects = {
        1: (1, {2: {1: 2}}),
        2: (2, {3: {1: {1: 3}}}),
        3: (4, {1: refer(4, 5)}),
        4: (4, {2: {1: 10}, 1: refer(6)}),
        5: (4, {2: {1: 12}, 4: 1}),
        6: (4, {2: {1: 11}}),
        10: (5, slide),
        11: (5, {}),
        12: (5, {7: refer(25)}),
        20: (7, {1: {4: {1: 40}}}),
        21: (7, {1: {2: {1: 41}}}),
        22: (3008, {2: refer(26, 22)}),
        23: (5021, {10000: {7: {**names, 3: values}}}),
        24: (7, {1: {4: {1: 42}}}),
        25: (2011, {4: {1: 43}}),
        26: (3005, {1: {8: "A lamp", 10: {1: 27}, 11: {1: 28}}}),
        27: (633, {1: {4: {1: 46}}}),
        30: (15, {1: {1: 44}}),
        40: (2001, {3: "Lens"}),
        41: (2001, {3: "one\ntwo"}),
        42: (2001, {3: "unseen"}),
        43: (2001, {3: "hidden text"}),
        44: (2001, {3: "say it"}),
        46: (2001, {3: "Its title"}),
    }
    document = parse(KeynoteParser, objects)

    assert document.text == (
        "# Lens\n\none\n\ntwo\n\n> Picture: A lamp\n\nIts title\n\n"
        "|  | Q1 | Q2 |\n|---|---|---|\n| 2024 | 1 |\n| 2025 | 2 |  |\n\n> Notes: say it\n\n"
        "# Slide 3\n\n(hidden slide)\n\nhidden text"
    )
    assert [place.number for place in document.places] == [1, 3]
    assert document.warnings == ("slide 3 is hidden",)


def test_the_cells_of_numbers_are_cited_by_sheet_and_table():
    decimal = (125 | 6174 << 113).to_bytes(16, "little")
    cells = {
        0: cell(3, 8, "<I", 1),
        1: cell(10, 1, "<16s", decimal),
        3: cell(5, 4, "<d", 86_400.0),
        4: cell(6, 2, "<d", 1.0),
        5: cell(7, 2, "<d", 3_661.0),
        6: cell(9, 16, "<I", 7),
        7: cell(8, 0, "<0s", b""),
    }
    table = build_table(10, {1: cells, 3: {0: cell(3, 8, "<I", 9)}, 4: {1: b"\4"}}, ["litres"])
    objects = {
        1: (1, {1: refer(2)}),
        2: (2, {1: "Oil", 2: refer(10, 5), 25: 1}),
        5: (2011, {4: {1: 6}}),
        6: (2001, {3: "a note"}),
        14: (6005, {3: {1: 7, 9: {1: 15}}}),
        15: (6218, {1: {1: 16}}),
        16: (2001, {3: "rich"}),
        **table,
    }
    document = parse(NumbersParser, objects)

    assert document.text == "litres | 1.25 |  | 2001-01-02 | TRUE | 1:01:01 | rich\n\na note"
    places = [(one.number, one.label, one.row, one.columns) for one in document.places]
    assert places == [(0, "Oil::Plan", 2, "A:G"), (1, "Oil", 0, "")]
    hidden, unread = document.warnings
    assert hidden == "sheet `Oil` is hidden"
    assert unread.startswith("table `Plan`: 2 rows are left out")


def test_cells_beyond_the_limit_are_said(monkeypatch):
    monkeypatch.setattr("kebab.parse.office.iwork.MAX_CELLS", 1)
    number = cell(2, 2, "<d", 7.0)
    table = build_table(10, {0: {0: number}, 1: {0: number}})
    document = parse(NumbersParser, {1: (1, {1: refer(2)}), 2: (2, {2: refer(10)}), **table})

    assert (document.text, len(document.warnings)) == ("7", 1)


@pytest.mark.parametrize("parser", [PagesParser, KeynoteParser, NumbersParser])
@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"no archive", "not a zip archive"),
        (zipped({"a.txt": b"x"}), "no document of Pages"),
        (build_iwork({}, files={".iwpv2": b""}), "encrypted"),
        (build_iwork({1: (77, {})}), "damaged: no "),
    ],
)
def test_what_is_no_document_is_refused(parser, data, cause):
    with pytest.raises(ParseFailed) as refusal:
        parser().parse(data, "a")
    assert cause in refusal.value.cause


def test_older_documents_are_read_from_their_preview():
    preview = (SAMPLES / "report.pdf").read_bytes()
    data = zipped({"index.xml": b"<a/>", "QuickLook/Preview.pdf": preview})
    document = PreviewParser().parse(data, "a.pages")

    assert document.places[0].of == len(document.places) > 0
    assert document.warnings[0].startswith("read from the preview")
    with pytest.raises(ParseFailed) as refusal:
        PreviewParser().parse(zipped({"index.xml": b"<a/>"}), "a.pages")
    assert "without a preview" in refusal.value.cause


OLD, NEW = zipped({"index.apxl": b"x"}), build_iwork({})


@pytest.mark.parametrize(
    ("name", "data", "media"),
    [
        ("a.key", OLD, "application/x-iwork-preview+zip"),
        ("a.key", NEW, "application/vnd.apple.keynote"),
        ("a.key", b"-----BEGIN", None),
        ("a.pages", b"damaged", "application/vnd.apple.pages"),
    ],
)
def test_the_first_bytes_tell_older_documents_and_keys(name, data, media):
    assert detect_media(name, len(data), lambda: data) == media
