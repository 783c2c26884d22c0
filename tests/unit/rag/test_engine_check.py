import pytest

from kebab.rag.engine import DraftAnswer, check_answer_terms, check_quote
from kebab.rag.prompt import Quote, SupportingQuote
from tests.fakes.evidence import hit, page, stored

CITED = "In 1066 Harold was king of England. The longest battle took a day."
OTHER = "Denmark paid 300 pounds. Kubernetes runs containers."


def found(answerability=0.9):
    return page(hit(stored(CITED)), hit(stored(OTHER, 2), rank=2), answerability=answerability)


def check(question, sentence="In 1066 Harold was king of England.", answerability=0.9, absent=()):
    start = CITED.index(sentence)
    quote = Quote(chunk=stored(CITED), start=start, end=start + len(sentence))
    said = found(answerability)._replace(absent_terms=absent)
    return check_answer_terms(question, draft_of(quote), said)


def draft_of(*quotes, text="It took long [1]."):
    """Return an answer that cites these quotes."""
    cited = (SupportingQuote(marker=1, quote=quote, spans=()) for quote in quotes)
    return DraftAnswer(text=text, citations=tuple(cited))


def kinds_of(result):
    return [one.code for one in result.warnings]


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("who was king of England in 1066", []),
        ("who was king of Denmark in 1066", ["name_not_cited"]),
        ("who was king of Norway in 1066", ["name_not_found"]),
        ("who was king of England with 300 men", ["number_not_cited"]),
        ("who was king of England in 1999", ["number_not_found"]),
        ("who was not king of England", ["negation_not_cited"]),
        ("who was never trained", []),
    ],
)
def test_a_doubt_says_what_the_cited_passage_lacks(question, kinds):
    assert kinds_of(check(question)) == kinds


def test_a_name_that_the_search_calls_absent_is_no_name_of_other_passages():
    result = check("who was king of Ruritania in 1066", absent=("Ruritania",))

    assert kinds_of(result) == ["absent_term"]


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
    hits, draft = page(*map(hit, chunks), answerability=1.0), draft_of(*quotes)

    result = check_answer_terms("how do I store Copier answers in a PostgreSQL table", draft, hits)

    assert kinds_of(result) == kinds
    assert result.uncertain is bool(kinds)


@pytest.mark.parametrize(
    ("question", "answer", "repeated"),
    [
        ("In which language is the king named?", "The king is named in a language.", True),
        ("Who was king, Harold or Edward?", "Harold was king [1].", False),
        ("Who was king: Harold vs Edward?", "Harold was king [1].", False),
        ("Wer war der König?", "Der König war König [1].", True),
        ("Who was king?", "Harold was king [1].", False),
        ("How many kings were there?", "There were 3 kings [1].", False),
        ("Was Harold king of England?", "Harold was king of England [1].", False),
    ],
)
def test_an_answer_that_only_repeats_the_words_of_a_question_is_uncertain(
    question, answer, repeated
):
    result = check_answer_terms(question, draft_of(text=answer), found(1.0))

    assert ("question_repeated" in kinds_of(result)) is repeated
    assert result.uncertain or not repeated


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

    assert check_run("Where do backup invoices go?", rarities) == [("term_not_cited", "invoices")]


def test_a_word_is_covered_as_far_as_a_token_of_the_quote_is_near():
    question, rarities = "Where do backup invoices go?", {"backup": 4.0, "invoic": 8.0}

    assert check_run(question, rarities, {"invoic": 0.9}) == []
    assert check_run(question, rarities, {"invoic": 0.1}) != []
    assert check_run(question, rarities, {"invoic": -0.9}) == check_run(question, rarities, {})
