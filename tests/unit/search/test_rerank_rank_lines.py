from kebab.core.ids import Key
from kebab.search import rerank
from kebab.search.rerank import merge_scores, score_meaning, score_words, select_for_embedding
from tests.fakes.embedder import HashingEmbedder

LINES = ["the dog runs in the park", "the cat", "a cat and a dog", "nothing of note here"]


def keyed(*scores):
    return {Key(number): score for number, score in enumerate(scores)}


def values(scores):
    return [scores[key] for key in sorted(scores)]


def best(scores):
    return sorted(scores, key=lambda key: -scores[key])


def test_a_text_with_more_and_rarer_words_scores_higher():
    scores = score_words("cat dog", LINES)

    assert best(scores)[0] == 2
    assert values(scores)[3] == 0
    assert all(0 <= score <= 1 for score in scores.values())


def test_words_are_stemmed_and_split_as_in_a_search():
    assert score_words("running dogs", LINES)[Key(0)] > 0
    assert score_words("백업", ["데이터베이스를 백업한다", "고양이"])[Key(0)] > 0


def test_a_query_of_stop_words_still_counts():
    assert score_words("what is the", LINES)[Key(0)] > 0


def test_texts_without_any_word_have_no_score():
    assert set(score_words("cat", ["", "---"]).values()) == {0.0}
    assert score_words("cat", []) == {}


def test_the_best_texts_by_words_are_embedded_each_spelling_once(monkeypatch):
    monkeypatch.setattr(rerank, "EMBED_LIMIT", 2)
    texts = ["one", "two", "one", "three"]

    assert select_for_embedding(keyed(0.1, 0.5, 0.1, 0.0), texts) == [1, 0]


def test_copies_share_the_evidence_of_their_text():
    texts = ["the cat", "the dog", "the cat"]

    scores = score_meaning("the cat", texts, [Key(0), Key(1)], HashingEmbedder())

    assert values(scores)[0] == values(scores)[2] > values(scores)[1]


def test_both_kinds_of_evidence_count():
    texts = ["a b", "c d"]
    embedder = HashingEmbedder()

    merged = merge_scores("a", keyed(0.2, 0.0), keyed(0.5, 0.5), texts, embedder)

    assert values(merged)[0] > values(merged)[1] > 0
