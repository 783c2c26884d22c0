import pytest

from kebab.core.answers import Quote
from kebab.rag.answer_check import (
    DoubtKind,
    check_answer_terms,
    check_quote,
    find_absent_terms,
    is_decisive,
)
from kebab.rag.question_terms import extract_question_terms
from kebab.text.tokenizer import collect_all_tokens
from tests.fakes.evidence import hit, page, stored

CITED = "In 1066 Harold was king of England. The longest battle took a day."
OTHER = "Denmark paid 300 pounds. Kubernetes runs containers."
NOTES = f"{CITED} {OTHER} Norway is far away and was trained in 1999."


def found(answerability=0.9):
    return page(hit(stored(CITED)), hit(stored(OTHER, 2), rank=2), answerability=answerability)


def count(tokens):
    known = collect_all_tokens([NOTES])
    return {token: int(token in known) for token in tokens}


def absent(question, rarity=7.0):
    """Return the absent terms in notes in which a word that occurs nowhere has this rarity."""
    terms = extract_question_terms(question)
    tokens = [token for term in terms for word in term.words for token in word]
    rarities = dict.fromkeys(tokens, rarity)
    said = found()._replace(term_rarities=rarities, absent_terms=tuple(question.split()))
    return find_absent_terms(terms, said, count)


def check(question, sentence="In 1066 Harold was king of England.", answerability=0.9):
    terms = extract_question_terms(question)
    chunk = stored(CITED)
    start = CITED.index(sentence)
    quote = Quote(chunk=chunk, start=start, end=start + len(sentence))
    said = found()._replace(absent_terms=tuple(question.split()))
    missing = find_absent_terms(terms, said, count)
    return check_answer_terms(question, terms, missing, [quote], found(answerability))


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("was Harold king of Ruritania", ["Ruritania"]),
        ("was Harold Zweig king", ["Zweig"]),
        ("was Harlod king", []),
        ("was Harold king of Norway", []),
        ("was Harold king in 1999", []),
        ("was Harold king in 2031", ["2031"]),
        ("does MPEG-7 run", ["MPEG-7"]),
        ("how does traefik run", ["traefik"]),
        ("does kubernetes run", []),
        ("was the king untrained", []),
        ("was enormousness seldomly promising", []),
        ("was Harold king of dictation", ["dictation"]),
        ("who isn't king", []),
    ],
)
def test_terms_are_absent_that_occur_nowhere_in_the_notes(question, terms):
    assert [one.text for one in absent(question)] == terms


def test_in_few_notes_a_plain_word_is_never_absent():
    assert absent("how does traefik run in Ruritania", rarity=5.0) == absent("in Ruritania")


@pytest.mark.parametrize(
    ("question", "decisive"),
    [
        ("was Harold king of Ruritania", True),
        ("does MPEG-7 run", True),
        ("was Harold Zweig king", False),
        ("was Harold king in 2031", False),
        ("how does traefik run", False),
        ("was Harold king of England", False),
        ("does the king have RAM and 2FA", False),
        ("was the king a UNESCO member", True),
        ("was the king there on Monday", False),
    ],
)
def test_a_question_about_an_absent_name_or_code_has_no_answer(question, decisive):
    assert is_decisive(extract_question_terms(question), absent(question)) is decisive


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("who was king of England in 1066", []),
        ("who was king of Denmark in 1066", ["name_not_cited"]),
        ("who was king of Norway in 1066", ["name_not_found"]),
        ("who was king of England with 300 men", ["number_not_cited"]),
        ("who was king of England in 1999", ["number_not_found"]),
        ("who was king of Ruritania in 1066", ["absent_term"]),
        ("who was not king of England", ["negation_not_cited"]),
    ],
)
def test_a_doubt_says_what_the_cited_passage_lacks(question, kinds):
    assert [one.kind for one in check(question).doubts] == kinds


@pytest.mark.parametrize(
    ("texts", "kinds"),
    [
        (["Copier stores answers.", "PostgreSQL has a table."], ["names_not_together"]),
        (["Copier stores answers.", "Copier can use PostgreSQL."], []),
    ],
)
def test_names_that_no_found_passage_has_together_are_a_doubt(texts, kinds):
    chunks = [stored(text, number) for number, text in enumerate(texts, start=1)]
    quotes = [Quote(chunk=chunk, start=0, end=len(chunk.text)) for chunk in chunks]
    terms = extract_question_terms("how do I store Copier answers in a PostgreSQL table")
    hits = page(*map(hit, chunks), answerability=1.0)

    result = check_answer_terms("how do I store it", terms, [], quotes, hits)

    assert [one.kind for one in result.doubts] == kinds
    assert result.uncertain is bool(kinds)


def test_an_absent_term_makes_an_answer_uncertain_whatever_else_is_right():
    assert check("who was king of England in 2031", answerability=1.0).uncertain


def test_strong_evidence_outweighs_a_small_doubt():
    question = "who was king of England with 300 men"

    assert check(question, answerability=0.5).uncertain
    assert not check(question, answerability=0.99).uncertain


RUN = "The nightly backup of the photos runs at two."


def check_run(question, rarities, nearness=None, text=RUN):
    quote = Quote(chunk=stored(text), start=0, end=len(text))
    return [(one.kind, one.term) for one in check_quote(question, rarities, quote, nearness)]


def test_a_quote_with_the_words_and_the_fact_has_no_doubt():
    assert check_run("When does the backup run?", {"backup": 5.0, "run": 3.0}) == []


def test_a_rare_word_that_the_quote_lacks_is_a_doubt():
    rarities = {"backup": 4.0, "invoic": 8.0}

    assert check_run("Where do backup invoices go?", rarities) == [
        (DoubtKind.TERM_NOT_CITED, "invoices")
    ]


def test_a_word_is_covered_as_far_as_a_token_of_the_quote_is_near():
    question, rarities = "Where do backup invoices go?", {"backup": 4.0, "invoic": 8.0}

    assert check_run(question, rarities, {"invoic": 0.9}) == []
    assert check_run(question, rarities, {"invoic": 0.1}) != []
    assert check_run(question, rarities, {"invoic": -0.9}) == check_run(question, rarities, {})


@pytest.mark.parametrize(
    ("question", "doubted"),
    [
        ("who was not king of England", True),
        ("who was never trained", False),
        ("who was king of England", False),
    ],
)
def test_a_word_that_the_question_denies_and_the_quote_affirms_is_a_doubt(question, doubted):
    kinds = [one.kind for one in check(question).doubts]

    assert (DoubtKind.NEGATION in kinds) is doubted
