import random

import pytest

from kebab.search.related import find_similar_passage

WORDS = [f"word{number}x" for number in range(2000)]


def prose(seed, count=60):
    return " ".join(random.Random(seed).sample(WORDS, count))


def find(base, text, own="own.md", copies=1):
    found = find_similar_passage(
        base.reader(), text, lambda chunk: chunk.path == own, copies=copies
    )
    return found and (found.chunk.path, round(found.similarity, 2))


@pytest.fixture
def filled(base):
    base.add("own.md", prose(1), prose(2))
    base.add("copy.md", f"Before. {prose(1)} And behind.")
    for number in range(9):
        base.add(f"other{number}.md", prose(100 + number))
    return base


def test_the_passage_that_holds_the_paragraph_is_found(filled):
    assert find(filled, prose(1)) == ("copy.md", 1.0)
    assert find(filled, prose(1), own="copy.md") == ("own.md", 1.0)


def test_a_few_changed_words_do_not_matter_and_many_do(filled):
    words = prose(1).split()
    few, many = list(words), list(words)
    few[20:22] = ["changed", "words"]
    many[::5] = prose(7, len(many[::5])).split()

    path, similarity = find(filled, " ".join(few))

    assert path == "copy.md"
    assert 0.8 <= similarity < 1
    assert find(filled, " ".join(many)) is None


def test_a_paragraph_without_a_copy_is_not_found(filled):
    assert find(filled, prose(2)) is None
    assert find(filled, prose(55), copies=0) is None
    assert find(filled, "") is None


def test_a_text_that_stands_in_many_documents_is_no_copy(filled):
    for number in range(4):
        filled.add(f"licence{number}.md", prose(1))

    assert find(filled, prose(1)) is None


def test_signs_of_the_query_syntax_are_plain_text(filled):
    assert find(filled, '"a" OR NEAR(b) * -c:d ' * 9, copies=0) is None
