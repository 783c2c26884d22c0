import pytest

from kebab.core.documents import BlockKind
from kebab.parse.blocks import TextBuilder
from kebab.parse.pdf.paragraphs import HeadingRules, LineJoiner, PageWriter
from kebab.parse.pdf.rows import Row

FULL = 300.0


def row(text, base, *, left=72.0, right=FULL, size=10.0, hyphen=False):
    places = text if isinstance(text, dict) else {text: left}
    spans = tuple((place, place + 5 * len(cell)) for cell, place in places.items())
    return Row((*places,), left, right, base, size, False, hyphen, False, spans)  # noqa: FBT003


def write(*rows):
    builder = TextBuilder()
    rules = HeadingRules([rows], ())
    joiner = LineJoiner(row.text for row in rows)
    PageWriter(builder, rows, [rules.get_level(row, 1) for row in rows], joiner).write()
    return builder.build("a.pdf")


def test_lines_become_a_paragraph_and_a_gap_ends_it():
    text = write(
        row("The first line goes", 700), row("on here.", 688), row("Then a gap follows", 660)
    ).text

    assert text == "The first line goes on here.\n\nThen a gap follows"


def test_a_short_line_ends_a_paragraph_behind_a_sentence_and_else_a_line():
    text = write(
        row("A long line of text, full", 700),
        row("Here it ends.", 688, right=150),
        row("name", 676, right=100),
        row("value of it and some more", 664),
    ).text

    assert text == "A long line of text, full Here it ends.\n\nname\nvalue of it and some more"


def test_a_line_is_short_by_the_edge_of_its_own_column():
    column = row("A full line.", 700, right=150), row("Another one.", 688, right=150)
    assert write(*column, row("Aside", 676, left=200)).text.startswith("A full line. Another one.")


def test_items_become_a_list_with_its_depths():
    document = write(
        row("• first item that is long", 700),
        row("and goes on", 688, left=80, right=140),
        row("– nested", 676, left=90),
        row("• second", 664),
        row("3) third", 652),
    )

    assert document.text == "- first item that is long and goes on\n  - nested\n- second\n3) third"
    assert [block.kind for block in document.blocks] == [BlockKind.LIST]


@pytest.mark.parametrize(
    ("rows", "table"),
    [
        pytest.param(
            [{"part": 72, "0": 200}, {"part": 72, "1": 200}, {"part": 72, "2": 200}],
            "| part | 0 |\n|---|---|\n| part | 1 |\n| part | 2 |",
            id="full",
        ),
        pytest.param(
            [
                {"Id": 72, "Severity": 150, "Status": 250},
                {"A-1": 72, "open": 255},
                {"CRITICAL": 150, "closed": 225},
            ],
            "| Id | Severity | Status |\n|---|---|---|\n| A-1 |  | open |\n"
            "|  | CRITICAL | closed |",
            id="sparse",
        ),
        pytest.param(
            [{"2023": 150, "2024": 200, "all": 250}, {"peas": 72, "12": 160, "13": 210, "25": 255}],
            "|  | 2023 | 2024 | all |\n|---|---|---|---|\n| peas | 12 | 13 | 25 |",
            id="a corner without text",
        ),
        pytest.param(
            [{"area": 72, "2023": 150, "2024": 175}, {"fields": 72, "1.20 1.30": 150}],
            "| area | 2023 | 2024 |\n|---|---|---|\n| fields | 1.20 | 1.30 |",
            id="numbers close to each other",
        ),
        pytest.param(
            [
                {"Net": 150, "Gross": 210},
                {"Crop": 72, "income": 150, "sales": 210},
                {"peas": 72, "12": 150, "15": 210},
            ],
            "| Crop | Net income | Gross sales |\n|---|---|---|\n| peas | 12 | 15 |",
            id="a header of two lines",
        ),
        pytest.param(
            [{"a": 72, "b": 150, "c": 200}, {"d": 100, "e": 175}],
            "a | b | c\nd | e",
            id="no common columns",
        ),
    ],
)
def test_cells_stay_in_their_columns(rows, table):
    document = write(*(row(cells, 700 - 12 * number) for number, cells in enumerate(rows)))

    assert document.text == table


def test_a_heading_of_two_lines_is_one():
    lines = [row("the words of the text are many and small", 600 - 12 * n) for n in range(9)]
    document = write(row("A heading of", 700, size=20), row("two lines", 678, size=20), *lines)

    assert document.blocks[0].label == "A heading of two lines"


WORDS = (
    "a well-known dual system and an encoder in JavaScript with multistage filters",
    "the art of the state-of-the-art model, sensors and a trans-",
    "mission",
    "two-phases of transmission",
)


@pytest.mark.parametrize(
    ("before", "after", "hyphen", "joined"),
    [
        ("transmis-", "sion", True, "transmission"),
        ("well-", "known", False, "well-known"),
        ("two-", "phases", True, "two-phases"),
        ("dual-", "encoder", True, "dual-encoder"),
        ("multi-", "stage", True, "multistage"),
        ("Java-", "Script", True, "JavaScript"),
        ("pre-", "and postwar", True, "pre- and postwar"),
        ("state-of-the-", "art", True, "state-of-the-art"),
        ("3-", "way", False, "3-way"),
        ("Anglo-", "American", True, "Anglo-American"),
        ("one", "two", False, "one two"),
        ("토양 수분", "측정", False, "토양 수분 측정"),
        ("より早く暖ま", "るため", False, "より早く暖まるため"),
    ],
)
def test_lines_are_joined_as_words_were_divided(before, after, hyphen, joined):
    joiner = LineJoiner([*WORDS, before, after])

    assert joiner.join(before, after, hyphen=hyphen) == joined


def test_a_document_that_divides_no_words_keeps_its_hyphens():
    lines = ["the low-cost sensor is a low-", "cost part of a rain-", "gauge"]

    assert LineJoiner(lines).join("a rain-", "gauge") == "a rain-gauge"
    assert LineJoiner(lines[2:]).join("a rain-", "gauge") == "a raingauge"


def test_a_row_right_above_a_drawn_table_is_its_header():
    table = ((("peas", False),), (("12", False),)), ((("oats", False),), (("9", False),))
    drawn = row("", 690)._replace(table=table)
    head = row({"Crop": 72, "Yield": 150}, 702)

    assert write(head, drawn).text == "| Crop | Yield |\n|---|---|\n| peas | 12 |\n| oats | 9 |"
    assert write(head._replace(base=790), drawn).text.startswith("Crop Yield\n\n| peas | 12 |")
