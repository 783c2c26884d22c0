from collections import Counter

from tools.claims.corpora import LANGUAGES
from tools.claims.run import list_situations
from tools.claims.situations import NEEDS_QUESTIONS, SITUATIONS


def test_each_kind_of_situation_is_run_with_several_corpora():
    listed = list(list_situations(200, seed=1))

    corpora = Counter(situation for situation, _ in {(one, corpus) for one, corpus, _ in listed})
    assert set(corpora) == set(SITUATIONS)
    assert min(corpora.values()) >= 3
    assert len({seed for _, _, seed in listed}) == 200


def test_questions_are_asked_of_corpora_that_have_some():
    listed = list_situations(200, seed=1)

    assert {corpus for one, corpus, _ in listed if one in NEEDS_QUESTIONS} == set(LANGUAGES)
