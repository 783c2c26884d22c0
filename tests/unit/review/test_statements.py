"""A paragraph that another note has too is named with the place of the other one."""

import pytest

from kebab.core.review import FrontMatterUse, Markup, SimilarParagraph
from kebab.review.statements import NearDuplicate, StaleDate
from tests.fakes.evidence import stored
from tests.fakes.review import FakeSurroundings, make_document

_PARAGRAPH = NearDuplicate.example
_KOREAN = (
    "매일 밤 백업이 돌고 노트와 그림과 설정을 둘째 디스크에 복사한다 그리고 일곱 벌을 둔다 " * 4
)
_OTHER = stored("x", path="other.md", start_line=7)


def _find(text: str, similar: SimilarParagraph | None, *paragraphs: str) -> list[str]:
    known = {one.strip(): similar for one in paragraphs} if similar else {}
    found = NearDuplicate().check(make_document(text), FakeSurroundings(similar=known))
    return [text[one.start : one.end] for one in found]


def test_the_paragraph_is_named_and_cites_the_other_note() -> None:
    text = f"# Backup\n\n{_PARAGRAPH}\n\nEnd.\n"
    similar = {_PARAGRAPH: SimilarParagraph(_OTHER, 0.912)}
    (found,) = NearDuplicate().check(make_document(text), FakeSurroundings(similar=similar))
    assert text[found.start : found.end] == _PARAGRAPH
    assert (found.conf, found.edit) == (0.91, "note")
    assert found.reason.endswith("other.md:7")


def test_a_script_without_blanks_between_words_counts_too() -> None:
    similar = SimilarParagraph(_OTHER, 1.0)
    assert _find(f"{_KOREAN}\n", similar, _KOREAN) == [_KOREAN.strip()]


def test_short_paragraphs_tables_quotations_and_html_are_left_out() -> None:
    similar = SimilarParagraph(_OTHER, 1.0)
    for text in ("A short one.", f"> {_PARAGRAPH}", f"| {_PARAGRAPH} |", f"<td>{_PARAGRAPH}</td>"):
        assert _find(text, similar, text) == []


def test_a_document_that_is_a_copy_has_few_findings() -> None:
    paragraphs = [f"{_PARAGRAPH} {number}" for number in range(30)]
    similar = SimilarParagraph(_OTHER, 1.0)
    assert len(_find("\n\n".join(paragraphs), similar, *paragraphs)) == 20


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("As of May 2019, it has three modes.", ["May 2019"]),
        ("As of 2019 it has three modes.", ["2019"]),
        ("as of the end of 2020-03 there are two", ["2020-03"]),
        ("(last checked on 5 January 2020)", ["5 January 2020"]),
        ("The certificate is valid until March 2021.", ["March 2021"]),
        ("Version 1 is supported until 31 December 2022.", ["31 December 2022"]),
        ("It is planned for Q3 2021.", ["Q3 2021"]),
        ("It will be removed in June 1, 2020.", ["June 1, 2020"]),
        ("It will be\nremoved in\n2020.", ["2020"]),
        ("The licence expires on 2024-05-01.", ["2024-05-01"]),
        ("2020년 5월 기준으로 세 가지가 있다.", ["2020년 5월"]),
        ("2021년 12월까지 지원됩니다.", ["2021년 12월"]),
        ("2021년 3월에 출시될 예정입니다.", ["2021년 3월"]),
        ("2020年5月1日時点では三つある。", ["2020年5月1日"]),
        ("2021年3月まで有効です。", ["2021年3月"]),
        ("2021年3月に公開予定です。", ["2021年3月"]),
        ("As of January 2025, it has three modes.", []),
        ("The certificate is valid until March 2031.", []),
        ("It was supported until 2019.", []),
        ("They were in Berlin until March 2019.", []),
        ("It was planned for 2019 and came in 2020.", []),
        ("In 2019 we began.", []),
        ("As of version 2019.1 it works.", []),
        ("Copyright 2019", []),
        ("2019년에 시작했다. 2020년까지 일했다.", []),
        ("Set the year to 2019", []),
        ("It will be the number of days from Jan 1, 1970 until now.", []),
        ("As of July 15, 2014, the server increased its limit.", []),
        ("As of October 2021, all are required to report.", []),
        ("It seems to be fixed as of 2020-11-27.", []),
        ("As of 2014, it is the most used server.", ["2014"]),
        ("As of June 2022 GDK, it has three modes.", []),
        ("There are two, and they can as of late 2019.", []),
        ("The benchmark has 20 rows as of 2011.", []),
        ("For example, if a theoretical one is out, it is planned for 2023.", []),
    ],
)
def test_dates_that_have_passed_are_named(text: str, named: list[str]) -> None:
    found = StaleDate().check(make_document(text), FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == named


@pytest.mark.parametrize("path", ["CHANGELOG.md", "posts/a.md", "2019-05-01-note.md"])
def test_records_are_not_reported(path: str) -> None:
    document = make_document("As of May 2019, it has three modes.", path=path)
    assert list(StaleDate().check(document, FakeSurroundings())) == []


def test_a_text_with_a_date_of_its_own_is_not_reported() -> None:
    front = "---\ndate: 2019-05-01\n---\n"
    markup = Markup(front_matter=FrontMatterUse(0, len(front), (("date", "2019-05-01"),)))
    document = make_document(f"{front}As of May 2019, it works.", markup)
    assert list(StaleDate().check(document, FakeSurroundings())) == []
