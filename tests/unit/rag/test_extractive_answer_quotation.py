import numpy as np
import pytest
from msgspec.structs import replace

from kebab.core.chunks import TokenVectors
from kebab.errors.catalog import TimedOut
from kebab.rag.extractive_answer import (
    ScoredSentence,
    drop_link_targets,
    format_quotes,
    rank_sentences,
)
from kebab.rag.prompt import Evidence
from kebab.text.sentences import find_sentences
from tests.fakes.embedder import PROFILE
from tests.fakes.evidence import stored


def make_sentences(text, *which, key=1, score=0.5, **fields):
    """Return the sentences of a note that are counted."""
    chunk = stored(text, key, **fields)
    passage = Evidence(marker=key, chunk=chunk, text=text)
    spans = find_sentences(text)
    return [
        ScoredSentence(passage=passage, start=spans[at][0], end=spans[at][1], score=score)
        for at in which
    ]


def test_several_quotes_are_a_list_and_every_span_holds_its_quote():
    found = [
        *make_sentences("One is first. Two. Three is last.", 0, 2),
        *make_sentences("Four.", 0, key=2),
    ]
    text, supports = format_quotes(found)
    assert text == '- "One is first." [1]\n- "Three is last." [2]\n- "Four." [3]'
    for one in supports:
        ((start, end),) = one.spans
        assert text[start:end] == f'"{one.quote.text}" [{one.marker}]'


def test_the_best_quote_comes_first_and_equal_ones_keep_their_order():
    note = {"doc_id": "a" * 32}
    later = make_sentences("Zeta late.", 0, key=3, ordinal=2, score=0.9, **note)
    early = make_sentences("Alpha early.", 0, key=4, ordinal=1, score=0.2, **note)
    other = make_sentences("Other one.", 0, key=5, score=0.6)
    same = make_sentences("Same score.", 0, key=2, score=0.6)
    text, _ = format_quotes([*early, *other, *later, *same])
    assert text == (
        '- "Zeta late." [1]\n- "Other one." [2]\n- "Same score." [3]\n- "Alpha early." [4]'
    )


def test_adjacent_sentences_are_one_quote_with_the_better_score():
    note = "A first line\nthat wraps. It goes on.\n\nA new one."
    text, supports = format_quotes(
        [
            *make_sentences(note, 1, score=0.8),
            *make_sentences(note, 2, score=0.6),
            *make_sentences(note, 0, score=0.4),
        ]
    )
    assert text == '- "A first line that wraps. It goes on." [1]\n- "A new one." [2]'
    assert supports[0].quote.text == "A first line\nthat wraps. It goes on."
    assert supports[0].quote.lines == (1, 2)


def quote_whole(*notes):
    """Return the answer that quotes whole notes, and its citations."""
    return format_quotes(
        [
            ScoredSentence(
                passage=Evidence(marker=key, chunk=stored(note, key), text=note),
                start=0,
                end=len(note),
                score=1 / key,
            )
            for key, note in enumerate(notes, start=1)
        ]
    )


def test_code_behind_a_sentence_stays_in_its_fence():
    note = "Install it *now*:\n\n```sh\npip install x\n\nx[1] --init\n```"
    text, (support,) = quote_whole(note)
    assert text == '"Install it *now*:" [1]\n\n```sh\npip install x\n\nx[1] --init\n```'
    assert support.quote.text == note
    assert support.quote.lines == (1, 7)
    assert support.spans == ((0, len(text)),)


def test_code_in_a_list_of_quotes_belongs_to_its_item():
    text, supports = quote_whole("Run:\n```sh\na\n\nb\n```", "Another one.")
    assert text == '- "Run:" [1]\n\n  ```sh\n  a\n\n  b\n  ```\n- "Another one." [2]'
    assert [text[start:end][-3:] for one in supports for start, end in one.spans] == ["```", "[2]"]


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("# Heading", '"Heading"'),
        ("- item of a list", '"item of a list"'),
        ("> quoted words that\n> go on here", '"quoted words that go on here"'),
        ("| photos | a \\| b | monthly |", '"photos · a | b · monthly"'),
        ('He said "Go." once', '“He said "Go." once”'),
        ("see [3] and 【４】", '"see (3) and (４)"'),
        ("![cat](https://a.b/c.png) sat", '"cat sat"'),
        ("See [the guide](../guide.md#start), now.", '"See the guide, now."'),
        ("call {meth}`~a.B.c` or :ref:`this`", '"call `~a.B.c` or `this`"'),
        ("two   blanks\tand \u202eturned\x07", '"two blanks and turned\ufffd"'),
    ],
)
def test_markup_of_a_quote_is_shown_as_text(note, shown):
    text, supports = format_quotes(make_sentences(note, 0))
    assert text == f"{shown} [1]"
    assert supports[0].quote.text in note


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('[a](b "title") and [c](<d e>)', "a and c"),
        ("[wiki](https://w.org/A_(b)) page", "wiki page"),
        ("[text][ref] and [text][]", "text and text"),
        ("[[Page]] and [[Page|its name]]", "Page and its name"),
        ("[![build](badge.svg)](https://ci) passes", "build passes"),
        ("`[a](b)` is a link, ``[`c`](d)`` too", "`[a](b)` is a link, ``[`c`](d)`` too"),
        ("list[0](x) and f[1] stay text", "list[0](x) and f[1] stay text"),
        ("![](https://a.b/c.png)", "![](https://a.b/c.png)"),
        ("[a] (b) [c]: d", "[a] (b) [c]: d"),
        ("[" * 200 + "](" * 200, "[" * 200 + "](" * 200),
    ],
)
def test_a_link_is_shown_by_its_label(line, shown):
    assert drop_link_targets(line) == shown


def test_the_quote_of_a_citation_keeps_its_links():
    note = "Read [the guide](guide.md) first."
    text, (support,) = format_quotes(make_sentences(note, 0))
    assert text == '"Read the guide first." [1]'
    assert support.quote.text == note


ASKED = {"restor": 3.0, "snapshot": 3.0}


def passage(text, key=1, score=0.6, **fields):
    chunk = stored(text, key, **{"title": "", **fields})
    return Evidence(marker=key, chunk=chunk, text=text, score=score)


def texts(passages, asked=None, embedder=None, limit=3):
    asked = ASKED if asked is None else asked
    return [
        one.text for one in rank_sentences("restore a snapshot", passages, asked, embedder, limit)
    ]


class Meaning:
    """An embedder that finds a word near every question."""

    version = "meaning-2-v1"
    dimension = 2
    window = 100
    profile = replace(PROFILE, version=version, dimension=dimension, window=window)

    def __init__(self, word, unknown="\x00", *, failing=False):
        self.word, self.unknown, self.failing = word, unknown, failing
        self.seen = []

    def count_tokens(self, texts):
        return [len(text.split()) for text in texts]

    def supports(self, text):
        return self.unknown not in text

    def prepare(self):
        """Do nothing: nothing has to be loaded."""

    def embed_query(self, text):
        return np.array([1.0, 0.0], np.float32)

    def embed_passages(self, texts):
        """Yield nothing: sentences are compared by their tokens."""
        yield from ()

    def embed_tokens(self, texts, *, as_query=False):
        if as_query:
            return [TokenVectors(np.array([[1.0, 0.0]], np.float32), [(0, 1)])]
        self.seen.extend(texts)
        if self.failing:
            raise TimedOut(operation="embed", elapsed_ms=1, deadline_ms=1)
        near = [float(self.word in text) for text in texts]
        rows = [np.array([[one, 1 - one]], np.float32) for one in near]
        return [TokenVectors(row, [(0, 1)]) for row in rows]


@pytest.mark.parametrize(
    ("question", "asked", "quoted"),
    [
        ("What is the deposit?", {"deposit": 4.0}, ["The deposit is 1,800 euros."]),
        (
            "What are the deposit and the oil?",
            {"deposit": 4.0, "oil": 4.0},
            ["The deposit is 1,800 euros.", "The chain is oiled and clean since yesterday."],
        ),
    ],
    ids=["alone", "adds"],
)
def test_a_further_quote_adds_something(question, asked, quoted):
    text = "The deposit is 1,800 euros.\n\nThe chain is oiled and clean since yesterday."
    found = rank_sentences(question, [passage(text, title="Deposit")], asked, None, 3)

    assert sorted(one.text for one in found) == sorted(quoted)


def test_the_sentence_beside_a_quoted_one_is_quoted_too():
    text = "A restore reads the snapshot of the night. It takes an hour on the old disks."

    found = rank_sentences("restore a snapshot", [passage(text)], ASKED, Meaning("e"), 3)

    assert len(found) == 2


def test_spans_of_sentences_are_verbatim():
    note = "# Restore\n\n- A snapshot is read\n  at once. Then it ends.\n"
    chunk = stored("skipped.\n\n" + note)
    cut = Evidence(marker=1, chunk=chunk, text=note, start=10, score=0.6)
    (one,) = rank_sentences("restore a snapshot", [cut], ASKED, None, 1)
    assert chunk.text[one.start : one.end] == one.text == "A snapshot is read\n  at once."
    assert 0 < one.score <= 1


@pytest.mark.parametrize(
    "poor",
    ["Restore a snapshot?", "Restore a snapshot:", "[restore snapshot](https://a.b/restore)"],
)
def test_questions_announcements_and_links_rank_lower(poor):
    good = "To restore, copy the snapshot into place."
    assert texts([passage(f"{poor}\n\n{good}")], limit=1) == [good]


def test_weak_sentences_are_left_out_beside_a_strong_one():
    strong = passage("A restore reads the snapshot.", score=0.9)
    weak = passage("Cheese is nice.", 2, score=0.1)
    assert texts([strong, weak]) == ["A restore reads the snapshot."]
    assert texts([weak]) == ["Cheese is nice."]


def test_vectors_find_sentences_in_other_words():
    text = "A restore of the whole cellar. Bringing data back takes an hour."
    near = Meaning("Bringing")
    assert texts([passage(text, title="Title")], {"restor": 1.0, "zebra": 5.0}, near, 1) == [
        "Bringing data back takes an hour."
    ]
    assert near.seen[0].startswith("Title\n")


def test_a_question_in_an_unsupported_script_is_not_embedded():
    near = Meaning("Disks", unknown="snapshot")
    text = "The disks are all labelled. A restore of all the files."
    assert texts([passage(text)], embedder=near, limit=1) == ["A restore of all the files."]
    assert near.seen == []


def test_after_a_failure_of_the_model_words_decide():
    text = "Disks are labelled. A restore reads the snapshot."
    failing = Meaning("Disks", failing=True)
    assert texts([passage(text)], embedder=failing) == texts([passage(text)])


def test_a_how_to_question_gets_the_code_of_the_instruction():
    note = (
        "Restore a snapshot with this:\n\n```sh\ntool restore\n```\n\nA restore of a snapshot ends."
    )
    question = "how do I restore a snapshot"
    (one,) = rank_sentences(question, [passage(note)], ASKED, None, 1)
    assert one.text == "Restore a snapshot with this:\n\n```sh\ntool restore\n```"


def test_a_sentence_and_the_same_sentence_with_its_code_are_not_both_quoted():
    note = "A restore reads the snapshot.\n\n```sh\ntool restore\n```\n"
    assert texts([passage(note)]) == ["A restore reads the snapshot."]


def test_the_lead_of_a_section_answers_what_its_heading_names():
    note = "Much is said before it all.\n\n## Snapshot\n\nA snapshot freezes one disk of all.\n"
    found = rank_sentences("what is a snapshot", [passage(note)], {"snapshot": 3.0}, None, 1)
    assert [one.text for one in found] == ["A snapshot freezes one disk of all."]
