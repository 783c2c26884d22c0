from pathlib import Path
from typing import Any

import pytest

from kebab.evals.draft import DraftOptions, draft_golden_set, extract_terms
from kebab.evals.run import ProgressReporter
from tests.fakes.notes import NotesKebab

LONG = (
    "restore snapshot repository before writer stops replication listener certificate rotation "
    "gardener compost seedling greenhouse irrigation harvest"
)
WORDS = LONG.split()
ENGLISH = {
    f"en/{number}.md": [" ".join(WORDS[number : number + 8]) + f" marker{number}."]
    for number in range(7)
}
KOREAN = {"ko/a.md": ["백업 저장소를 서버에서 매일 복구하고 결과를 문서에 기록한다."]}
TEXTS = {**ENGLISH, **KOREAN}


@pytest.fixture
def create_draft():
    def run(texts=TEXTS, **options):
        progress = ProgressReporter(lambda event: None)
        kebab: Any = NotesKebab(texts)
        return draft_golden_set(kebab, Path("q.jsonl"), DraftOptions(**options), progress)

    return run


def list_answerable(draft):
    return [one for one in draft.queries if one.answerable]


def test_the_draft_has_the_requested_count_and_a_fifth_as_many_unanswerable_questions(create_draft):
    draft = create_draft(count=6)

    assert len(list_answerable(draft)) == draft.report.answerable == 6
    assert draft.report.unanswerable == len(draft.queries) - 6 == 2


def test_few_notes_give_fewer_questions(create_draft):
    report = create_draft(count=50).report

    assert (report.wanted, report.answerable, report.documents) == (50, 8, 8)
    assert report.by_language == {"en": 7, "ko": 1}


def test_no_question_is_a_whole_sentence_and_its_words_keep_their_order(create_draft):
    for one in list_answerable(create_draft()):
        (text,) = TEXTS[one.doc]
        words = one.query.split()
        if one.kind != "heading":
            positions = [extract_terms(text).index(word) for word in words]
            assert positions == sorted(positions)
            assert 3 <= len(words) < len(extract_terms(text))


def test_every_kind_has_its_share(create_draft):
    assert create_draft().report.by_kind == {
        "sentence": 3,
        "rarest": 3,
        "heading": 2,
        "nonsense": 2,
    }


def test_a_question_has_the_document_and_lines_of_its_answer(create_draft):
    for one in list_answerable(create_draft()):
        assert (one.line_start, one.line_end) == (1, 1)
        assert one.doc in TEXTS


def test_a_question_of_a_heading_has_a_word_from_below_it(create_draft):
    (one, *_) = [query for query in list_answerable(create_draft()) if query.kind == "heading"]

    *title, last = one.query.split()
    assert title == ["Restoring", "data"]
    assert last in TEXTS[one.doc][0]


def test_made_up_words_do_not_occur_in_the_notes(create_draft):
    everything = " ".join(text for (text,) in TEXTS.values())
    nothing = [one.query.split() for one in create_draft().queries if not one.answerable]

    for words in nothing:
        assert sum(one in everything for one in words) == len(words) - 2


def test_names_and_questions_are_all_different(create_draft):
    queries = create_draft().queries

    assert len({one.id for one in queries}) == len({one.query for one in queries}) == len(queries)


def test_the_same_seed_gives_the_same_questions(create_draft):
    assert (
        create_draft(seed=3).queries == create_draft(seed=3).queries != create_draft(seed=4).queries
    )


@pytest.mark.parametrize("texts", [{}, {"a.md": ["# Only a heading"]}, {"a.md": ["It is."]}])
def test_notes_without_running_text_give_nothing(create_draft, texts):
    draft = create_draft(texts)

    assert (draft.queries, draft.report.written) == ([], False)
