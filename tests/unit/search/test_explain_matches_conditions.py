import pytest

from kebab.core.queries import Filters
from kebab.search.explain import BrokenCondition, find_broken_conditions, remove_conditions
from kebab.search.query_parser import list_active_filters, parse_query


@pytest.fixture
def note(base):
    base.add("a.md", "the oil embargo of nixon", "gas and coal", tags=["ops"], lang="en")
    base.add("b.md", "oil")
    return base


def _found(base, text, **filters):
    reader = base.reader()
    passages = [one for one in reader.load_chunks([1, 2]) if one.path == "a.md"]
    return find_broken_conditions(reader, parse_query(text, Filters(**filters)), passages)


def _names(broken):
    return {key: [one.filter or one.phrase.text for one in all_] for key, all_ in broken.items()}


def test_every_passage_breaks_a_filter_of_its_document(note):
    assert _names(_found(note, "oil", tag=("x",), lang=("en",))) == {1: ["tag"], 2: ["tag"]}


@pytest.mark.parametrize("text", ["oil tag:x", "oil path:b.md", "oil source:elsewhere"])
def test_a_filter_in_the_text_is_one_too(note, text):
    assert all(len(broken) == 1 for broken in _found(note, text).values())


def test_a_document_filter_is_broken_by_other_documents(note):
    assert _names(_found(note, "oil", doc_id="0" * 32)) == {1: ["doc_id"], 2: ["doc_id"]}


def test_a_required_phrase_is_broken_by_passages_without_it(note):
    assert _names(_found(note, '"oil embargo"')) == {1: [], 2: ["oil embargo"]}


def test_a_phrase_of_a_column_is_looked_for_there(note):
    assert _names(_found(note, "title:oil")) == {1: ["oil"], 2: ["oil"]}


def test_an_exclusion_is_broken_by_passages_with_the_word(note):
    assert _names(_found(note, "oil -nixon")) == {1: ["nixon"], 2: []}


def test_a_document_without_passages_breaks_nothing(note):
    assert find_broken_conditions(note.reader(), parse_query("oil tag:x", Filters()), []) == {}


def test_removed_conditions_are_gone_and_the_others_stay():
    question = parse_query('"oil embargo" "red sea" -gas tag:x lang:en', Filters())
    embargo, sea = question.required
    (gas,) = question.excluded

    left = remove_conditions(
        question,
        [BrokenCondition("filter", filter="tag"), BrokenCondition("phrase", phrase=embargo)],
    )

    assert list_active_filters(left.filters) == {"lang": ("en",)}
    assert (left.required, left.excluded) == ((sea,), (gas,))
    assert remove_conditions(question, [BrokenCondition("exclusion", phrase=gas)]).excluded == ()
