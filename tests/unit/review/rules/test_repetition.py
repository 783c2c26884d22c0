"""A word that is written twice is named, unless it is a name or stands there on purpose."""

import pytest

from kebab.core.review import Markup
from kebab.review.rules.repetition import RepeatedWord
from tests.fakes.review import FakeSurroundings, make_document

_WRAPPED = "A line of a paragraph that is wrapped at the\n"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Open the the settings.", [" the"]),
        ("The the settings.", [" the"]),
        (f"{_WRAPPED}the end.", ["\nthe"]),
        (f"> {_WRAPPED}> the end.", ["\n> the"]),
        ("Это это слово.", [" это"]),
        ("Read it and and (then) leave.", [" and"]),
        ("He had had enough.", []),
        ("What it is is unknown.", []),
        ("It is on. On Monday it is off.", []),
        ("The theory", []),
        ("Duran Duran and New York New York", []),
        ("a test test test", []),
        ('It prints "foo foo".', []),
        ("Read file file.txt and path path/name and type type-name.", []),
        ("# Install the tool\ntool is needed", []),
        ("- tool\n- tool", []),
        ("| tool | tool |", []),
        ("tool\ntool", []),
        ("I saw the\nthe garden.", ["\nthe"]),
        ("Both AND and OR are operators.", []),
        ("Parameter parameter is the name.", []),
        ("a belongs_to to it", []),
        ("fix async\\_context context loss", []),
        ("Which facet of it it requires is unknown.", []),
        ("When you set it it will be stored.", []),
        ("It ends if it it is empty.", [" it"]),
        ("Any row that fails fails the job.", []),
        ("It is the port port 80 of it.", []),
        ("Others can merge merge requests here.", []),
        ("It is a bitwise and and a bitwise or.", []),
        ("- Fix the the in the manual", []),
        ("- start of the the ([8b48a9f](https://example.org/commit/8b48a9f))", []),
        ("name | what it is\n--- | ---\nmodules | links to enabled modules\nmodules | other", []),
        ("factor: sign factor and a power\npower: atom trailer", []),
        ("mount -t resctrl resctrl here", []),
        ("tool  tool\ttool", []),
        ("매우 매우 좋은 하나 하나", []),
        ("ますます ますます", []),
        ("Open `the` the settings.", []),
        ("  class cluster cluster;\n", []),
    ],
)
def test_the_second_word_is_named(text: str, named: list[str]) -> None:
    start = text.find("`the`")
    markup = Markup(code=((start, start + 5),)) if start >= 0 else Markup()
    found = RepeatedWord().check(make_document(text, markup), FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == named


def test_code_between_two_words_separates_them() -> None:
    text = "the x the"
    document = make_document(text, Markup(code=((4, 5),)))
    assert list(RepeatedWord().check(document, FakeSurroundings())) == []


def test_a_pair_that_the_page_has_as_code_is_a_name() -> None:
    text = "# todo list list\n\nRun `todo list list` there."
    start = text.find("`")
    for code, count in ((Markup(), 2), (Markup(code=((start, start + 16),)), 0)):
        found = RepeatedWord().check(make_document(text, code), FakeSurroundings())
        assert len([*found]) == count


def test_languages_that_repeat_words_have_no_findings() -> None:
    document = make_document("Nó xảy ra dần dần trong ngày.", lang="vi")
    assert list(RepeatedWord().check(document, FakeSurroundings())) == []


def test_changelogs_name_only_repeated_words_of_grammar() -> None:
    text = "- stream: revert revert of the the map\n- net: plug a trace file file leak\n"
    found = RepeatedWord().check(make_document(text, path="CHANGELOG.md"), FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == [" the"]


def test_text_without_markup_names_only_repeated_words_of_grammar() -> None:
    text = "It depends on the the host of binfile binfile.\n"
    document = make_document(text, path="a.txt", media="text/plain")
    found = RepeatedWord().check(document, FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == [" the"]


def test_repeated_words_are_found_anywhere_in_a_long_text() -> None:
    text = (
        "All is well with you.\n\n" * 500 + "Open the the settings.\n\n" + "Some words.\n\n" * 500
    )
    (found,) = RepeatedWord().check(make_document(text), FakeSurroundings())
    assert text[found.start : found.end] == " the"
    assert text.startswith("Open the the", found.start - len("Open the"))
