from pathlib import Path
from typing import Any

import pytest

from kebab.evals.draft import DraftOptions, draft_golden_set
from kebab.evals.run import ProgressReporter
from kebab.evals.sampling import extract_terms
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
def drafted():
    def run(texts=TEXTS, **options):
        progress = ProgressReporter(lambda event: None)
        kebab: Any = NotesKebab(texts)
        return draft_golden_set(kebab, Path("q.jsonl"), DraftOptions(**options), progress)

    return run


def known(made):
    return [one for one in made.queries if one.answerable]


def test_the_draft_has_the_requested_count_and_a_fifth_as_many_unanswerable_questions(drafted):
    made = drafted(count=6)

    assert len(known(made)) == made.report.answerable == 6
    assert made.report.unanswerable == len(made.queries) - 6 == 2


def test_notes_that_give_fewer_give_what_they_have(drafted):
    report = drafted(count=50).report

    assert (report.wanted, report.answerable, report.documents) == (50, 8, 8)
    assert report.by_language == {"en": 7, "ko": 1}


def test_no_question_is_a_whole_sentence_and_its_words_keep_their_order(drafted):
    for one in known(drafted()):
        (text,) = TEXTS[one.doc]
        asked = one.query.split()
        if one.kind != "heading":
            places = [extract_terms(text).index(word) for word in asked]
            assert places == sorted(places)
            assert 3 <= len(asked) < len(extract_terms(text))


def test_every_kind_has_its_share(drafted):
    assert drafted().report.by_kind == {"sentence": 3, "rarest": 3, "heading": 2, "nonsense": 2}


def test_a_question_has_the_document_and_lines_of_its_answer(drafted):
    for one in known(drafted()):
        assert (one.line_start, one.line_end) == (1, 1)
        assert one.doc in TEXTS


def test_a_question_of_a_heading_has_a_word_from_below_it(drafted):
    (one, *_) = [query for query in known(drafted()) if query.kind == "heading"]

    *title, last = one.query.split()
    assert title == ["Restoring", "data"]
    assert last in TEXTS[one.doc][0]


def test_made_up_words_do_not_occur_in_the_notes(drafted):
    everything = " ".join(text for (text,) in TEXTS.values())
    nothing = [one.query.split() for one in drafted().queries if not one.answerable]

    for words in nothing:
        assert sum(one in everything for one in words) == len(words) - 2


def test_names_and_questions_are_all_different(drafted):
    queries = drafted().queries

    assert len({one.id for one in queries}) == len({one.query for one in queries}) == len(queries)


def test_the_same_seed_gives_the_same_questions(drafted):
    assert drafted(seed=3).queries == drafted(seed=3).queries != drafted(seed=4).queries


@pytest.mark.parametrize("texts", [{}, {"a.md": ["# Only a heading"]}, {"a.md": ["It is."]}])
def test_notes_without_running_text_give_nothing(drafted, texts):
    made = drafted(texts)

    assert (made.queries, made.report.written) == ([], False)
