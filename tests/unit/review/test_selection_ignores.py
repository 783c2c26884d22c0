import pytest

from kebab.core.media import PLAIN
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.selection import read_ignores
from tests.fakes.review import make_document


def read(text, **fields):
    document = make_document(text, read_markup(text), **fields)
    return [(sorted(one.names), one.first, one.last) for one in read_ignores(document)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. <!-- kebab-ignore todo: later -->\nTwo.", (["todo"], 1, 1)),
        ("<!-- kebab-ignore todo -->\n\nTwo.", (["todo"], 1, 3)),
        ("> <!-- kebab-ignore todo -->\n> Two.", (["todo"], 1, 2)),
        ("<!--kebab-ignore a, b c: why: so-->\nTwo.", (["a", "b", "c"], 1, 2)),
        ("<!-- kebab-ignore rumdl:MD042, typos: why -->\nTwo.", (["rumdl:MD042", "typos"], 1, 2)),
        ("<!-- kebab-ignore -->\nTwo.", ([], 1, 2)),
        ("<!-- kebab-ignore: generated -->\nTwo.", ([], 1, 2)),
        ("{/* kebab-ignore todo: later */}\nTwo.", (["todo"], 1, 2)),
        ("%% kebab-ignore todo %%\nTwo.", (["todo"], 1, 2)),
        ("One.\n<!-- kebab-ignore-file todo: a template -->\nTwo.", (["todo"], 1, 3)),
        ("<!-- kebab-ignore todo -->", (["todo"], 1, 1)),
    ],
)
def test_a_comment_ignores_its_line_the_next_one_or_the_file(text, found):
    assert read(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "Write `<!-- kebab-ignore todo -->` there.",
        "```md\n<!-- kebab-ignore todo -->\n```",
        "<!-- kebab-ignored todo -->",
        "<!-- kebab-ignore-next todo -->",
        "kebab-ignore todo",
        "# kebab-ignore todo",
    ],
)
def test_code_and_other_words_are_no_comments(text):
    assert read(text) == []


@pytest.mark.parametrize("sign", ["#", "//", "%", ";", "--", ".."])
def test_other_formats_have_comments_of_a_line(sign):
    assert read(f"{sign} kebab-ignore todo: why\nx", media=PLAIN) == [(["todo"], 1, 2)]
    assert read(f"see {sign} kebab-ignore todo\nx", media=PLAIN) == []


def test_many_signs_do_not_take_long():
    text = "<!-- kebab-ignore " + "a " * 50_000
    assert read(text) == []
