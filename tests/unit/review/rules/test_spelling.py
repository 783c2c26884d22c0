"""Common misspellings are found in prose and comments, and what may be right is left alone."""

import pytest

from kebab.core.media import SOURCE
from kebab.core.review import Finding, Markup
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import list_words
from kebab.review.rules.rule import Rule
from kebab.review.rules.spelling import FEW_DOCUMENTS, MISSPELLINGS, Misspelling, UnknownWord
from tests.fakes.review import FakeSurroundings, make_document


def _check(
    text: str,
    *,
    rule: Rule | None = None,
    lang: str | None = "en",
    words: frozenset[str] = frozenset(),
    counts: dict[str, int] | None = None,
) -> list[Finding]:
    document = make_document(text, read_markup(text), lang=lang)
    surroundings = FakeSurroundings(words=words, counts=counts or {})
    return list((rule or Misspelling()).check(document, surroundings))


def _show(text: str, **options: str | None) -> list[tuple[str, str | None]]:
    return [
        (text[one.start : one.end], one.fix.text if one.fix else None)
        for one in _check(text, lang=options.get("lang", "en"))
    ]


def test_the_list_has_one_line_of_corrections_for_each_misspelling() -> None:
    assert MISSPELLINGS.list_corrections(b"recieve") == ["receive"]
    assert MISSPELLINGS.list_corrections(b"atleast") == ["at least"]
    for word in list(MISSPELLINGS.words)[::1000]:
        assert all(MISSPELLINGS.list_corrections(word))


def test_no_correction_is_a_misspelling() -> None:
    corrections = {
        one for word in MISSPELLINGS.words for one in MISSPELLINGS.list_corrections(word)
    }
    assert MISSPELLINGS.words.isdisjoint(one.encode() for one in corrections)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("You will recieve the letters.", "receive"),
        ("Recieve the letters.", "Receive"),
        ("# How to Recieve it\n\nText.", "Receive"),
        ("It is SEPERATED from us.", "SEPARATED"),
        ("- **recieve** it\n", "receive"),
        ("See [how to recieve](a.md) it.", "receive"),
        ("Ils ont *the letters*, and they recieve it.", "receive"),
        ("We recieve, and send.", "receive"),
        ("| a | b |\n| - | - |\n| we recieve | 1 |\n", "receive"),
        ("A non-existant one of them is left.", "existent"),
        ("Read/recieve the letters.", "receive"),
        ("```python\nrun()  # we recieve it\n```\n", "receive"),
    ],
)
def test_a_misspelling_is_corrected_in_its_case(text: str, fix: str) -> None:
    assert [one for _, one in _show(text)] == [fix]


@pytest.mark.parametrize(
    "text",
    [
        "Call `recieve` in the code.",
        "Call `recieve` and recieve is a name here.",
        'The word "recieve" is wrong.',
        "See https://example.org/recieve for more of it.",
        "Send it to recieve@example.org today.",
        "Open the file src/recieve/a.md of it.",
        "Open the file recieve.md of it.",
        "The option --recieve_all is there.",
        "We met Jon Recieve at the fair.",
        "It has d**elete** in bold.",
        "Fix the typo recieve -> receive in the docs.",
        "The recieve() function is there.",
        "```\nrecieve(a)\n```\n",
        "<!-- recieve -->",
        "The TEH is short for it.",
        "You will have recieve-\nments of it.",
        "It is the recieve d'être of it all.",
        "- recieve: moved to another service",
        "- recieve/all: moved to another service",
        "They were pre-recieve to all of it.",
        "You will have mis-\nrecieve of it.",
    ],
)
def test_names_code_and_quotations_are_right(text: str) -> None:
    assert _show(text) == []


def test_a_word_with_several_corrections_has_no_fix() -> None:
    ((word, fix),) = _show("We ask wether it is so.")
    assert (word, fix) == ("wether", None)


@pytest.mark.parametrize("lang", ["de", None])
def test_other_languages_are_left_alone(lang: str | None) -> None:
    text = "Das ist die adress der Leute, und sie ist nicht auf der Liste von mir."
    assert _show(text, lang=lang) == []


def test_a_paragraph_in_another_language_is_left_alone() -> None:
    german = "Das ist die adress der Leute, und sie ist nicht auf der Liste von mir."
    english = "This is the adress of the people that you will write to."
    assert [fix for _, fix in _show(f"{german}\n\n{english}\n")] == ["address"]


def test_the_words_of_the_settings_and_of_the_folder_are_right() -> None:
    text = "You will recieve the letters."
    assert _check(text, words=frozenset({"recieve"})) == []
    assert _check(text, counts={"recieve": FEW_DOCUMENTS}) == []
    assert len(_check(text, counts={"recieve": FEW_DOCUMENTS - 1})) == 1


def test_in_source_code_comments_have_fixes_and_names_have_none() -> None:
    text = "def recieve_all(seperateList):  # we recieve it\n    recieve = 1\n"
    markup = Markup(code=((0, len(text)),), code_blocks=((0, len(text)),))
    document = make_document(text, markup, path="a.py", media=SOURCE)
    found = list(Misspelling().check(document, FakeSurroundings()))
    assert [(text[one.start : one.end], one.fix is not None) for one in found] == [
        ("recieve", False),
        ("seperate", False),
        ("recieve", True),
    ]


def test_words_are_in_lower_case_and_keep_letters_outside_of_ascii() -> None:
    assert list_words("The na\u00efve `x_y`, 2nd") == [
        *(b"the", "na\u00efve".encode(), b"x", b"y", b"nd")
    ]


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("The assistannce of the team is there.", "assistance"),
        ("The name is meaninfgul for all of us.", "meaningful"),
        ("The favour of the team is there.", None),
        ("The keyboards and multipliers are there.", None),
        ("The assistannce-team and Assistannce are there.", None),
    ],
)
def test_an_unknown_word_is_a_letter_away_from_a_frequent_one(text: str, fix: str | None) -> None:
    found = _check(text, rule=UnknownWord())
    assert [one.reason.rpartition(" ")[2] for one in found] == ([fix] if fix else [])


@pytest.mark.parametrize(
    ("lang", "text", "fix"),
    [
        ("de", "Das ist eine wichhtige Datei, die nicht auf dem System ist.", "wichtige"),
        ("fr", "C'est une chose imporrtante pour les gens qui sont dans la ville.", "importante"),
        ("es", "Es una pregunta imporrtante para los que no son de la casa.", "importante"),
        ("it", "Questa è una domanda imporrtante per la gente della città.", "importante"),
        ("pt", "Esta é uma pergunta imporrtante para os que não são da casa.", "importante"),
        ("nl", "Dit is een belanngrijke vraag voor de mensen in de stad.", "belangrijke"),
    ],
)
def test_an_unknown_word_is_found_in_six_more_languages(lang: str, text: str, fix: str) -> None:
    (found,) = _check(text, rule=UnknownWord(), lang=lang)
    assert found.reason.endswith(fix)
    assert found.fix is None


def test_an_unknown_word_that_another_document_uses_is_right() -> None:
    text = "The assistannce of the team is there."
    assert _check(text, rule=UnknownWord(), counts={"assistannce": 2}) == []
    assert _check(text, rule=UnknownWord(), words=frozenset({"assistannce"})) == []


def test_names_make_no_paragraph_of_another_language_english() -> None:
    text = "- angular-i18n (the Time-Methode of the build für XLIFF in all the files)\n"
    assert _show(text, lang="de") == []
    assert _show(text.replace("für", "for"), lang="de") == [("Methode", "Method")]


def test_a_word_that_a_document_has_often_is_meant() -> None:
    text = "You will recieve the letters. "
    assert len(_check(text * 10)) == 10
    assert _check(text * 11) == []


def test_a_plural_is_no_misspelling() -> None:
    assert _check("It makes all the canonicalizations here.") == []


def test_a_word_of_the_name_of_the_file_is_meant() -> None:
    document = make_document("You will recieve the letters.", path="recieve-letters.md")
    assert list(Misspelling().check(document, FakeSurroundings())) == []


@pytest.mark.parametrize(
    "text",
    [
        'It says "The last one occured five days ago" there.',
        "Run it with --recieve for all of them.",
        "It handles the while-recieve-loop of the letters.",
        "- Bug 9348: you will recieve the letters",
        "* you will recieve it by @kim in https://example.org/7",
        "* [#17](https://example.org/17) - You will recieve it",
        "* You will recieve it ([@kim](https://example.org/kim))",
        "- you will recieve it ([`8b48a9f`](https://example.org/commit/8b48a9f))",
        "| You will get the letters and recie... | a |\n| You will recieve... | b |",
        "This file was automatically generated by a program.\n\nYou will recieve the letters.",
        "They sing that they are coming, goin’ home and chasin’ it.",
        "Lorem ipsum dolor sit amet, and ridiculus mus is the end of it.",
    ],
)
def test_the_words_of_others_are_left_alone(text: str) -> None:
    assert _check(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The work was contributed by assistannce, thanks to all.",
        "This is the value of _assistannce and the other one.",
        "- **assistannce**: add the letters",
        "It shall be called the *assistannce* here and there.",
        "The table has <code>assistannce</code> and the other one.",
    ],
)
def test_an_unknown_word_outside_of_a_sentence_may_be_a_name(text: str) -> None:
    assert _check(text, rule=UnknownWord()) == []
