from kebab.core.queries import Filters
from kebab.search import lexical
from kebab.search.explain import describe_terms, find_held_terms
from kebab.search.query_parser import parse_query
from kebab.wire.related import HeldTerms

SKY = "the sky"


def _describe(base, text):
    reader = base.reader()
    question = parse_query(text, Filters())
    return describe_terms(reader, question, lexical.weigh_terms(reader, question))


def test_each_term_has_its_use_and_how_many_passages_hold_it(base):
    base.add("a.md", "oil embargo", "the oil", "oil and gas")
    base.add("b.md", SKY)

    found = {one.text: one for one in _describe(base, "what is the oil embargo zebra")}

    assert {text: one.use for text, one in found.items()} == {
        "embargo": "asked",
        "oil": "common",
        "zebra": "absent",
        "what": "filler",
        "is": "filler",
        "the": "filler",
    }
    assert (found["oil"].passages, found["embargo"].passages) == (3, 1)
    assert found["embargo"].weight > 0
    assert found["oil"].weight is None


def test_terms_beyond_the_limit_are_surplus(base):
    words = [f"w{'abcdefghij'[index // 10]}{'abcdefghij'[index % 10]}x" for index in range(70)]
    base.add("a.md", " ".join(words), *[SKY] * 4)

    kinds = [one.use for one in _describe(base, " ".join(words))]

    assert (kinds.count("asked"), kinds.count("surplus")) == (64, 6)


def test_stop_words_are_searched_for_when_there_is_nothing_else(base):
    base.add("a.md", "what is this", *[SKY] * 3)

    assert {one.use for one in _describe(base, "what")} == {"asked"}


def test_held_terms_are_listed_by_column(base):
    base.add("a.md", "the embargo began", title="Oil", heading=("Crisis",))
    base.add("b.md", SKY)
    base.add("c.md", SKY)
    reader = base.reader()
    words = lexical.weigh_terms(reader, parse_query("crisis oil embargos", Filters()))

    found = find_held_terms(words, reader.load_chunks([1])[0])

    assert found == HeldTerms(title=["oil"], headings=["crisi"], body=["embargo"])


def test_a_single_sign_of_a_script_without_blanks_is_found_by_its_beginning(base):
    base.add("a.md", "東京都")
    base.add("b.md", SKY)
    base.add("c.md", SKY)
    reader = base.reader()
    words = lexical.weigh_terms(reader, parse_query("京", Filters()))

    assert find_held_terms(words, reader.load_chunks([1])[0]).body == ["京"]
