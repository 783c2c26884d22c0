import unicodedata
from pathlib import Path
from typing import Any

import pytest

from kebab.evals.draft import (
    DraftOptions,
    Sentence,
    TermStatistics,
    compute_draw,
    draft_golden_set,
    extract_terms,
    find_prose_sentences,
    generate_word,
    shuffle,
)
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


def test_the_draw_of_a_name_is_always_the_same():
    assert compute_draw(1, "a.md") == compute_draw(1, "a.md") == 0x7386D1917781930E
    assert len({compute_draw(seed, "a.md") for seed in range(100)}) == 100


def test_parts_with_the_same_concatenation_have_different_draws():
    assert compute_draw("a", "bc") != compute_draw("ab", "c")


def test_the_order_depends_on_the_seed_alone():
    things = [*range(20)]

    assert shuffle(things, 1, str) == shuffle(reversed(things), 1, str)
    assert shuffle(things, 1, str) != shuffle(things, 2, str)
    assert sorted(shuffle(things, 1, str)) == things


def test_a_name_with_a_surrogate_has_a_draw():
    assert compute_draw("\udcff") >= 0


def found(text, first=10):
    return [(one.text, one.first, one.last) for one in find_prose_sentences(text, first)]


def test_sentences_have_their_line_numbers():
    text = "One stops here. Two goes\non to the next. Three\n\nFour"

    assert found(text) == [
        ("One stops here.", 10, 10),
        ("Two goes\non to the next.", 10, 11),
        ("Three", 11, 11),
        ("Four", 13, 13),
    ]


def test_full_width_stops_end_a_sentence_without_a_blank():
    assert found("最初の文。次の文!") == [("最初の文。", 10, 10), ("次の文!", 10, 10)]


def test_a_point_within_a_word_ends_nothing():
    assert found("Use version 1.2 of a.md now.") == [("Use version 1.2 of a.md now.", 10, 10)]


@pytest.mark.parametrize(
    "line",
    [
        "# Heading",
        "| a | b |",
        "    code",
        "\tcode",
        "---",
        "<div>",
        "[1]: https://x",
        "key: value",
    ],
)
def test_lines_without_prose_are_left_out(line):
    assert found(f"Before it\n{line}\nafter it") == [("Before it", 10, 10), ("after it", 12, 12)]


def test_fenced_code_is_left_out():
    assert found("```sh\nrm everything\n```\nText.") == [("Text.", 13, 13)]


def test_items_of_a_list_are_sentences_of_their_own():
    assert found("- [x] first thing\n2. second thing\n> quoted") == [
        ("first thing", 10, 10),
        ("second thing", 11, 11),
        ("quoted", 12, 12),
    ]


def test_front_matter_is_left_out_at_the_beginning_of_a_file_only():
    text = "---\ntitle: A long title\n---\nText."

    assert found(text, 1) == [("Text.", 4, 4)]
    assert ("title: A long title", 11, 11) in found(text, 10)


def test_markup_is_removed():
    text = 'See [the manual](https://a.b/c) at https://a.b {{< tip text="x" >}} <b>now</b>.'

    (only,) = find_prose_sentences(text, 1)
    assert only.text.split() == ["See", "the", "manual", "at", "now", "."]


def test_nothing_has_no_sentence():
    assert list(find_prose_sentences("", 1)) == []
    assert Sentence("a", 1, 1) == Sentence("a", 1, 1)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("How do I restore the backup of node-3?", ["restore", "backup", "node-3"]),
        ("The Café's menu, the menu", ["Café's", "menu"]),
        ("It is I", []),
        ("백업을 서버에서 복구합니다", ["백업", "서버", "복구"]),
        ("東大寺は8世紀に聖武天皇の発願で造立", ["東大寺", "世紀", "聖武天皇", "発願", "造立"]),
        ("サーバーのバックアップ", ["サーバー", "バックアップ"]),
        ("我们的服务器和网络", ["我们", "服务器", "网络"]),
        ("Сервер не отвечает", ["Сервер", "не", "отвечает"]),
    ],
)
def test_terms_are_content_words_in_their_order(sentence, words):
    assert extract_terms(sentence) == words


def test_words_of_many_passages_are_no_keywords():
    passages = [f"Kubernetes pod{number}" for number in range(30)]

    assert TermStatistics(passages).select_keywords("Kubernetes pod3") == ["pod3"]


def test_in_few_passages_every_word_is_a_keyword():
    assert TermStatistics(["kubernetes pod"] * 5).select_keywords("Kubernetes pod") == [
        "Kubernetes",
        "pod",
    ]


def test_the_rarest_words_come_in_their_order_and_of_equals_the_longer():
    statistics = TermStatistics(["server disk", "server disk", "server quantum"])

    assert statistics.select_rarest(["quantum", "server", "disk", "entanglement"], 2) == [
        "quantum",
        "entanglement",
    ]
    assert statistics.select_rarest(["server", "disk"], 1) == ["disk"]


def test_statistics_contain_every_term_and_list_repeated_ones():
    statistics = TermStatistics(["Server disk", "server"])

    assert "SERVER" in statistics
    assert "quantum" not in statistics
    assert statistics.list_repeated() == ["server"]


@pytest.mark.parametrize(
    ("language", "script"),
    [("en", "LATIN"), (None, "LATIN"), ("ko", "HANGUL"), ("ja", "KATAKANA"), ("zh", "CJK")],
)
def test_a_word_looks_like_one_of_its_language(language, script):
    for number in range(30):
        result = generate_word(language, 1, number)
        assert all(unicodedata.name(one).startswith(script) for one in result)


def test_words_are_many_and_the_same_for_a_seed():
    assert len({generate_word("en", 1, number) for number in range(50)}) > 45
    assert generate_word("ko", 1, 2) == generate_word("ko", 1, 2) != generate_word("ko", 3, 2)
