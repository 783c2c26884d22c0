import pytest

from kebab.rag.checking.clauses import Mode, split_western


def list_denied(sentence):
    return [one.word for one in split_western(sentence) if one.is_denied]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("It was not painted.", ["painted"]),
        ("It didn't run.", ["run"]),
        ("No nation attacked.", ["nation"]),
        ("It runs, but it does not stop.", ["stop"]),
        ("It is no longer supported.", ["supported"]),
        ("It fails to start.", ["start"]),
        ("Guests are refused.", ["refused"]),
        ("Das Haus ist nicht blau.", ["blau"]),
        ("It is not only blue.", []),
        ("It is not retried more than twice.", []),
        ("It cannot be disabled.", []),
        ("Only guests do not pay.", []),
        ("Run it without installing it.", []),
        ("Yes or no, it runs.", []),
        ("It runs.", []),
    ],
)
def test_negations_deny_the_next_content_word(sentence, words):
    assert list_denied(sentence) == words


def test_conditions_are_kept_apart():
    (clause,) = split_western("It does not start if the port is busy.")

    assert clause.condition == {"port", "busi"}
    assert clause.is_pronominal


@pytest.mark.parametrize(
    ("sentence", "mode"),
    [
        ("It can be removed.", Mode.CAN),
        ("It cannot be removed.", Mode.CAN),
        ("Guests must not smoke.", Mode.CAN),
        ("A key is required.", Mode.NEED),
        ("You have to wait.", Mode.NEED),
        ("They have cats.", Mode.PLAIN),
        ("It runs.", Mode.PLAIN),
    ],
)
def test_a_clause_says_that_it_is_can_be_or_has_to_be_so(sentence, mode):
    assert [one.mode for one in split_western(sentence)] == [mode]


def test_a_short_beginning_belongs_to_what_follows():
    (clause,) = split_western("By default, files are not kept.")

    assert clause.terms == {"default", "file", "kept"}
