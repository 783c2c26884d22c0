"""A paragraph that another note has too is named with the place of the other one."""

from kebab.core.review import SimilarParagraph
from kebab.review.statements import NearDuplicate
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
