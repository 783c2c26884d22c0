"""Repeated words, marks of unfinished work and glossary terms are found where they are faults."""

import pytest

from kebab.core.review import GlossaryTerm, Markup
from kebab.review.rules.prose import ForbiddenTerm, RepeatedWord, Todo
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


def test_languages_that_repeat_words_have_no_findings() -> None:
    document = make_document("Nó xảy ra dần dần trong ngày.", lang="vi")
    assert list(RepeatedWord().check(document, FakeSurroundings())) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("TODO: describe the options", ["TODO"]),
        ("This is **TODO**: write", ["TODO"]),
        ("The port is TBD.", ["TBD"]),
        ("| name | TBD |", ["TBD"]),
        ("- [ ] TODO write this", ["TODO"]),
        ("(FIXME: wrong)", ["FIXME"]),
        ("XXX this is wrong", ["XXX"]),
        ("see TODO(anna): check", ["TODO"]),
        ("- [ ] write the page", []),
        ("It lists the TODO comments of a file.", []),
        ("TODO list", []),
        ("Edit TODO.md and XXX-123 and CVE-2020-XXXX", []),
        ("Enter XXX.", []),
        ("todo: lower case", []),
        ("Our TODO app is ready", []),
    ],
)
def test_marks_are_named_and_words_about_marks_are_not(text: str, named: list[str]) -> None:
    found = Todo().check(make_document(text), FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == named


def test_marks_in_comments_count_and_those_in_code_do_not() -> None:
    text = "`TODO: a` and <!-- TODO: b -->"
    document = make_document(text, Markup(code=((0, 9), (14, 30))))
    assert [one.start for one in Todo().check(document, FakeSurroundings())] == [19]


def test_todo_is_a_word_in_spanish() -> None:
    document = make_document("TODO el mundo", lang="es")
    assert list(Todo().check(document, FakeSurroundings())) == []


_GLOSSARY = (
    GlossaryTerm("email", ("e-mail", "mail")),
    GlossaryTerm("GitHub", ("Github", "github")),
    GlossaryTerm("mail server", ("mailer",)),
    GlossaryTerm("쿠버네티스", ("쿠버네테스",), "ko"),
    GlossaryTerm("サーバー", ("サーバ",), "ja"),
    GlossaryTerm("sign in", ("log in",), "en"),
)


@pytest.mark.parametrize(
    ("text", "lang", "named"),
    [
        ("Send an e-mail.", "en", [("e-mail", "email")]),
        ("E-mail us.", "en", [("E-mail", "Email")]),
        ("On Github and GitHub", "en", [("Github", "GitHub")]),
        ("GITHUB is shouted", "en", [("GITHUB", "GitHub")]),
        ("The mail server and the mailer.", "en", [("mailer", "mail server")]),
        ("mailbox, voicemail", "en", []),
        ("쿠버네테스를 설치한다", "ko", [("쿠버네테스", "쿠버네티스")]),
        ("쿠버네테스를 설치한다", "en", []),
        ("このサーバを使う。サーバーは", "ja", [("サーバ", "サーバー")]),
        ("Please log\nin here", "en", [("log\nin", "sign in")]),
        ("Please log in here", "de", []),
        ("github를 연다", "ko", [("github", "GitHub")]),
    ],
)
def test_forbidden_terms_are_replaced(text: str, lang: str, named: list[tuple[str, str]]) -> None:
    found = ForbiddenTerm().check(
        make_document(text, lang=lang), FakeSurroundings(glossary=_GLOSSARY)
    )
    assert [(text[one.start : one.end], one.fix and one.fix.text) for one in found] == named


def test_without_a_glossary_there_is_nothing_to_find() -> None:
    assert list(ForbiddenTerm().check(make_document("e-mail"), FakeSurroundings())) == []
