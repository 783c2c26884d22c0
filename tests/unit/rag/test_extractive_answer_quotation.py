import pytest

from kebab.core.answers import Evidence
from kebab.rag.extractive_answer import ScoredSentence, drop_link_targets, format_quotes
from kebab.text.sentences import find_sentence_spans
from tests.fakes.evidence import stored


def make_sentences(text, *which, key=1, score=0.5, **fields):
    """Return the sentences of a note that are counted."""
    chunk = stored(text, key, **fields)
    passage = Evidence(marker=key, chunk=chunk, text=text)
    spans = find_sentence_spans(text)
    return [
        ScoredSentence(passage=passage, start=spans[at][0], end=spans[at][1], score=score)
        for at in which
    ]


def test_one_sentence_is_quoted_with_its_marker():
    text, supports = format_quotes(make_sentences("Restores run nightly. Others do not.", 0))
    assert text == '"Restores run nightly." [1]'
    (one,) = supports
    assert (one.marker, one.quote.text, one.spans) == (
        1,
        "Restores run nightly.",
        ((0, len(text)),),
    )


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


def test_code_alone_is_followed_by_its_marker():
    assert quote_whole("~~~\nx = '```'\n~~~")[0] == "````\nx = '```'\n````\n[1]"


def test_the_border_of_another_format_is_not_shown():
    note = "Run it:\n\n```{eval-rst}\n.. click:example::\n\n    run()"
    assert quote_whole(note)[0] == '"Run it:" [1]\n\n```\nrun()\n```'


def test_indented_code_is_shown_in_a_fence():
    note = "Run it::\n\n    x --all\n      y"
    assert quote_whole(note)[0] == '"Run it::" [1]\n\n```\nx --all\n  y\n```'


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


def test_table_rows_and_list_items_are_separate_quotes():
    text, supports = format_quotes(make_sentences("| a | 1 |\n| b | 2 |", 0, 1))
    assert text == '- "a · 1" [1]\n- "b · 2" [2]'
    assert format_quotes(make_sentences("- one item\n- two items", 0, 1))[0] == (
        '- "one item" [1]\n- "two items" [2]'
    )
    assert [one.quote.lines for one in supports] == [(1, 1), (2, 2)]


def test_no_sentences_give_an_empty_answer():
    assert format_quotes([]) == ("", ())


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
