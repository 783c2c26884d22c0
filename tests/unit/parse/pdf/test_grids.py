from itertools import pairwise

import pytest

from kebab.core.documents import BlockKind
from kebab.parse.pdf.document import PdfParser
from tests.pdf_files import Box, build_pdf, write_lines

LINES = ("The water runs from the hill to", "the mill in a channel of stone", "that was built")


def read(*parts):
    return PdfParser().parse(build_pdf([parts]), "a.pdf")


def draw_cells(columns, rows):
    """Return the boxes of a grid between these places, the rows from the top."""
    return [
        Box(left, bottom, right - left, top - bottom)
        for left, right in pairwise(columns)
        for top, bottom in pairwise(rows)
    ]


def write(x, y, *lines, size=10):
    return write_lines(lines, x, y, size)


@pytest.mark.parametrize(
    ("parts", "table"),
    [
        pytest.param(
            [
                *draw_cells([70, 150, 300], [720, 700, 660]),
                *write(74, 706, "Part"),
                *write(154, 706, "Use"),
                *write(74, 688, "sluice"),
                *write(154, 688, "holds the wa-", "ter back"),
            ],
            "| Part | Use |\n|---|---|\n| sluice | holds the water back |",
            id="a cell of two lines",
        ),
        pytest.param(
            [
                *draw_cells([70, 150, 300], [720, 700, 680]),
                Box(70, 640, 230, 40),
                *write(74, 706, "Part"),
                *write(154, 706, "Use"),
                *write(74, 686, "gate"),
                *write(154, 686, "closes"),
                *write(74, 660, "all are of oak"),
            ],
            "| Part | Use |\n|---|---|\n| gate | closes |\n| all are of oak |  |",
            id="a cell over two columns",
        ),
        pytest.param(
            [
                *draw_cells([70, 150, 180], [720, 700, 640]),
                *write(74, 706, "Year"),
                *write(154, 706, "Tons"),
                *write(74, 688, "1990", "1991", "1992"),
                *write(154, 688, "12", "15", "19"),
            ],
            "| Year | Tons |\n|---|---|\n| 1990 | 12 |\n| 1991 | 15 |\n| 1992 | 19 |",
            id="rows without lines between them",
        ),
        pytest.param(
            [
                *draw_cells([70, 130, 160], [720, 700, 680]),
                *write(74, 706, "Oats in all"),
                *write(131, 706, "12.5"),
                *write(74, 686, "Rye in all"),
                *write(131, 686, "7.25"),
            ],
            "| Oats in all | 12.5 |\n|---|---|\n| Rye in all | 7.25 |",
            id="a narrow gap at a line",
        ),
        pytest.param(
            [
                *draw_cells([70, 150, 200], [720, 700]),
                *draw_cells([70, 156, 200], [700, 680]),
                *write(74, 706, "Oats"),
                *write(154, 706, "12"),
                *write(74, 686, "Rye"),
                *write(160, 686, "7"),
            ],
            "| Oats | 12 |\n|---|---|\n| Rye | 7 |",
            id="lines that are a little apart",
        ),
    ],
)
def test_drawn_lines_divide_cells(parts, table):
    document = read(*parts)

    assert document.text == table
    assert [block.kind for block in document.blocks] == [BlockKind.TABLE]


def test_text_beside_a_table_is_no_part_of_it():
    document = read(
        *draw_cells([70, 110, 150], [720, 704, 688]),
        *write(74, 708, "a"),
        *write(114, 708, "b"),
        *write(74, 692, "c"),
        *write(114, 692, "d"),
        *write(200, 708, *LINES),
    )

    assert document.text == f"| a | b |\n|---|---|\n| c | d |\n\n{' '.join(LINES)}"


@pytest.mark.parametrize(
    "boxes",
    [
        pytest.param(draw_cells([70, 107, 230], [709, 697, 685]), id="around words of a text"),
        pytest.param(draw_cells([60, 180, 300, 420], [800, 720, 650, 500]), id="around a page"),
        pytest.param(draw_cells([*range(40, 500, 10)], [*range(760, 600, -10)]), id="of a chart"),
        pytest.param([Box(60, 690, 200, 30)] * 4_000, id="too many"),
    ],
)
def test_other_boxes_make_no_table(boxes):
    assert read(*boxes, *write(72, 700, *LINES)).text == " ".join(LINES)


def test_numbers_at_the_edges_of_pages_are_kept():
    pages = [[*write(72, 770, f"{number}.75"), *write(72, 700, *LINES)] for number in range(3)]

    text = PdfParser().parse(build_pdf(pages), "a.pdf").text

    assert [f"{number}.75" in text for number in range(3)] == [True, True, True]
