from kebab.core.documents import Metadata
from kebab.parse.blocks import Lines, read_metadata


def test_lines_know_their_indents():
    lines = Lines("a\n\tb\n\n  c\nd")

    assert lines.indents == [0, 8, -1, 2, 0]
    assert lines.find_dedent(1, 5, 2) == 4
    assert lines.find_blank(0, 5) == 2
    assert lines.skip_blank(2, 5) == 3


def test_fields_become_metadata():
    assert read_metadata(
        {
            "title": "T",
            "author": "A B, C D",
            "tags": "x; y",
            "language": "ko_KR",
            "date": "2024-05-01",
        }
    ) == Metadata(title="T", tags=("x", "y"), lang="ko", authors=("A B", "C D"), date="2024-05-01")
    assert read_metadata({"filetags": ":work:home:"}).tags == ("work", "home")
