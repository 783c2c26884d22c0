from itertools import islice

from kebab.evals.draft import sample_passages
from kebab.wire.library import ListRequest
from tests.fakes.notes import NotesKebab

TEXTS = {
    **{f"en/{name}.md": [f"Text {name} one.", f"Text {name} two."] for name in "abcdef"},
    "ko/a.md": ["문장 하나."],
    "ja/a.md": ["一つの文。"],
}


def sample(kebab, seed=1):
    return list(sample_passages(kebab, kebab.run(ListRequest(limit=None)), seed))


def test_every_language_has_its_turn_before_one_has_two():
    first = list(islice(sample(NotesKebab(TEXTS)), 3))

    assert {one.lang for one in first} == {"en", "ko", "ja"}


def test_every_document_has_its_turn_before_one_has_two():
    docs = [one.doc for one in sample(NotesKebab(TEXTS))]

    assert set(docs[:8]) == set(TEXTS)
    assert sorted(docs[8:]) == [f"en/{name}.md" for name in "abcdef"]


def test_no_passage_is_sampled_twice_and_a_seed_gives_the_same_sample():
    kebab = NotesKebab(TEXTS)
    found = sample(kebab)

    assert len({(one.doc, one.text) for one in found}) == len(found) == 14
    assert sample(kebab) == found != sample(kebab, seed=2)


def test_a_passage_has_its_heading_its_lines_and_its_sentences():
    (one,) = sample(NotesKebab({"a.md": ["First.\nSecond."]}))

    assert (one.first, one.last, one.heading) == (1, 2, "Restoring data")
    assert [sentence.text for sentence in one.sentences] == ["First.", "Second."]


def test_a_document_that_is_not_as_it_was_indexed_is_left_out():
    assert sample(NotesKebab({"a.md": ["Text."]}, freshness="changed")) == []
