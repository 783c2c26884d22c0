import pytest

from kebab.rag.answer_check import find_opposite, find_unmatched_negation
from kebab.text.tokenizer import collect_tokens


def opposite(words, sentence, passage=""):
    return find_opposite(words.split(), sentence, collect_tokens(f"{sentence} {passage}"))


@pytest.mark.parametrize(
    ("words", "sentence", "found"),
    [
        ("softest problem", "The hardest problem of the class.", "softest"),
        ("tax decreases", "The tax increased in May.", "decreases"),
        ("unpopular vote", "A popular vote was held.", "unpopular"),
        ("hardest softest problem", "The hardest problem.", "softest"),
        ("hardest problem", "The hardest and the softest problem.", None),
        ("problem", "The hardest problem.", None),
        ("university", "One diversity.", None),
    ],
)
def test_the_opposite_of_a_missing_word_is_found(words, sentence, found):
    assert opposite(words, sentence) == found


def test_a_negative_word_that_the_passage_has_is_no_opposite():
    assert opposite("unpopular", "A popular vote.", "It was unpopular.") is None


@pytest.mark.parametrize(
    ("question", "sentence", "found"),
    [
        ("Who did not sign the treaty?", "Ada signed the treaty.", "not"),
        ("In which year wasn't it open?", "It was open in 1990.", "wasn't"),
        ("Who did not sign the treaty?", "Bob never signed it.", None),
        ("Who signed the treaty?", "Ada signed the treaty.", None),
        ("Why does the server not start?", "The server starts by itself.", None),
        ("What do I do if it does not start?", "Start the server by hand.", None),
        ("Which files can my user not read?", "Files are read by root.", None),
        ("restore without a password", "A password is needed.", None),
    ],
)
def test_only_the_negation_of_a_question_for_a_fact_needs_one_in_the_sentence(
    question, sentence, found
):
    assert find_unmatched_negation(question, sentence) == found
