import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.ids import Key
from kebab.core.queries import Mode, Query
from kebab.search.answerability import FAIR
from kebab.search.snippet import PassageCache, compute_coverage, cut_snippet, weigh_keywords
from kebab.store.sqlite.reader import SqliteReader
from kebab.text.tokenizer import tokenize

FILLER = "Nothing of note is said in this sentence. " * 20


def _marked(snippet):
    return [snippet.text[start:end] for start, end in snippet.highlights]


def test_a_short_text_is_its_own_snippet():
    snippet = cut_snippet("  The oil\nembargo.  ", {"oil": 1.0}, 240)

    assert snippet.text == "The oil\nembargo."
    assert _marked(snippet) == ["oil"]


def test_the_window_holds_the_densest_match_at_sentence_borders():
    text = f"{FILLER}Oil is mentioned. {FILLER}The oil embargo of 1973 began. {FILLER}"

    snippet = cut_snippet(text, {"oil": 1.0, "embargo": 3.0, "1973": 3.0}, 160)

    assert "The oil embargo of 1973 began." in snippet.text
    assert snippet.text[0].isupper()
    assert snippet.text.endswith(".")
    assert _marked(snippet) == ["oil", "embargo", "1973"]


def test_a_snippet_is_made_of_whole_sentences():
    text = (
        "First things come first. The embargo began in 1973. It ended in March. Prices rose. " * 9
    )

    snippet = cut_snippet(text, {"embargo": 3.0, "end": 1.0}, 90)

    assert snippet.text == (
        "First things come first. The embargo began in 1973. It ended in March. Prices rose."
    )


def test_different_words_beat_one_that_is_repeated():
    text = f"Oil, oil, oil and oil. {FILLER}Oil has a price. {FILLER}"

    snippet = cut_snippet(text, {"oil": 3.0, "price": 1.0}, 60)

    assert _marked(snippet) == ["Oil", "price"]


def test_only_a_sentence_that_is_too_long_is_cut_and_between_words():
    text = "and so on and so forth " * 20 + "the needle lies here " + "and on and on " * 20

    snippet = cut_snippet(text, {"needl": 1.0}, 80)

    assert _marked(snippet) == ["needle"]
    assert f" {snippet.text} " in f" {text} "
    assert len(snippet.text) > 40


def test_sentences_without_blanks_between_them_are_whole_too():
    text = "一つ目の文。" * 20 + "東京は日本の首都である。人口は多い。" + "最後の文。" * 20

    snippet = cut_snippet(text, {"首都": 2.0, "人口": 1.0}, 24)

    assert snippet.text == "一つ目の文。東京は日本の首都である。人口は多い。"
    assert _marked(snippet) == ["首都", "人口"]


def test_an_abbreviation_ends_no_snippet():
    text = f"{FILLER}The plan of Dr. Smith was signed by J. Doe in the U.S. Senate. {FILLER}"

    snippet = cut_snippet(text, {"smith": 1.0}, 90)

    assert "The plan of Dr. Smith was signed by J. Doe in the U.S. Senate." in snippet.text


def test_without_a_match_the_beginning_is_shown():
    snippet = cut_snippet(f"First words. {FILLER}", {"absent": 1.0}, 60)

    assert snippet.text.startswith("First words.")
    assert snippet.highlights == ()


def test_neighbouring_bigrams_are_one_highlight():
    assert _marked(cut_snippet("서울역에서", {"서울": 1.0, "울역": 1.0}, 80)) == ["서울역"]


def test_letters_keep_their_marks():
    text = "e\u0301" * 300

    assert not cut_snippet(text, {}, 101).text.startswith("\u0301")
    assert cut_snippet(text, {}, 101).text.endswith("\u0301")


_TEXTS = st.text(st.sampled_from("ab oil. 서울역\n。👍e\u0301"), max_size=400)


@given(_TEXTS, st.integers(20, 120))
def test_a_snippet_is_verbatim_within_its_bound_and_marks_what_matches(text, chars):
    snippet = cut_snippet(text, {"oil": 2.0, "서울": 1.0, "b": 0.5}, chars)

    assert len(snippet.text) <= chars
    assert snippet.text in text
    last = 0
    for start, end in snippet.highlights:
        assert last <= start < end <= len(snippet.text)
        last = end


@given(st.integers(0, 40), st.integers(0, 40), st.integers(20, 200))
def test_a_match_is_always_shown(before, after, chars):
    text = "word. " * before + "needle " + "other " * after

    assert "needle" in _marked(cut_snippet(text, {"needl": 1.0}, chars))


@pytest.mark.parametrize(
    ("chars", "expected"), [(23, "needle aaaa bbbb cccc"), (24, "needle aaaa bbbb cccc ee")]
)
def test_a_word_that_is_one_character_too_long_is_left_out(chars, expected):
    text = "needle aaaa bbbb cccc ee" + " dddd" * 20

    assert cut_snippet(text, {"needl": 1.0}, chars).text == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"oil": 2.0}, {"oil": 2.0}),
        ({"배추": 2.0, "얼마": 2.0, "나요": 2.0}, {"배추": 2.0}),
        ({"大仏": 2.0, "です": 2.0, "たち": 2.0}, {"大仏": 2.0, "たち": 0.6}),
        ({"什么": 2.0}, {"什么": 2.0}),
        ({}, {}),
    ],
)
def test_question_words_have_no_weight_beside_others(asked, expected):
    assert weigh_keywords(asked) == pytest.approx(expected)


def test_coverage_counts_words_that_occur_nowhere():
    assert compute_coverage({"oil": 3.0, "embargo": 1.0}, {"oil"}) == pytest.approx(0.75)


def test_coverage_does_not_require_all_bigrams():
    weights = {"배추": 1.0, "추는": 1.0, "오래": 1.0}
    assert compute_coverage(weights, {"배추"}) == pytest.approx(1 / 2.1)
    assert compute_coverage(weights, {"배추", "추는", "오래"}) == 1.0


def test_without_keywords_the_coverage_is_0():
    assert compute_coverage({}, {"oil"}) == 0.0


@pytest.fixture
def reference(base):
    base.add(
        "macros.md",
        "## Requirements\n\n**Header:** atldef.h",
        title="Exception handling macros",
        heading=("Exception handling macros", "Requirements"),
    )
    base.add(
        "errors.md",
        "Exception handling separates the code that detects errors from that which copes.",
        title="Errors",
    )
    for number in range(6):
        base.add(
            f"other{number}.md", f"A string of {number} characters is copied.", title="Strings"
        )
    return base


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID])
def test_a_short_passage_with_the_words_in_headings_above_it_is_not_first(reference, mode):
    page = reference.engine().search(Query(text="exception handling", mode=mode))

    scores = {hit.chunk.path: hit.score for hit in page.hits}
    assert page.hits[0].chunk.path == "errors.md"
    assert scores["macros.md"] < scores["errors.md"] >= FAIR


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID])
def test_alone_it_does_not_answer(base, mode):
    base.add(
        "macros.md",
        "## Requirements\n\n**Header:** atldef.h",
        title="Exception handling macros",
        heading=("Exception handling macros", "Requirements"),
    )
    for number in range(6):
        base.add(
            f"other{number}.md", f"A string of {number} characters is copied.", title="Strings"
        )

    page = base.engine().search(Query(text="exception handling", mode=mode))

    assert (page.hits[0].chunk.path, page.convincing) == ("macros.md", False)


_ONE, _TWO, _THREE, _GONE = Key(1), Key(2), Key(3), Key(9)


class _Counting(SqliteReader):
    """A library that counts what is read."""

    def __init__(self, folder):
        super().__init__(folder)
        self.asked = []

    def load_chunks(self, keys):
        self.asked.append(list(keys))
        return super().load_chunks(keys)


def test_a_passage_is_read_once_and_returned_in_the_order_of_the_keys(base):
    base.add("a.md", "one", "two", "three")
    library = _Counting(base.folder)
    reading = PassageCache(library)

    assert [chunk.text for chunk in reading.load_chunks([_TWO, _ONE])] == ["two", "one"]
    assert [chunk.text for chunk in reading.load_chunks([_ONE, _THREE, _GONE])] == ["one", "three"]
    assert library.asked == [[2, 1], [3, 9]]
    library.close()


def test_the_body_is_the_tokens_of_the_text(base):
    base.add("a.md", "Rising doughs", title="Bread")
    reading = PassageCache(base.reader())
    (chunk,) = reading.load_chunks([_ONE])

    assert reading.tokenize_body(chunk) == tuple(tokenize("Rising doughs"))
    assert reading.tokenize_body(chunk) is reading.tokenize_body(chunk)
