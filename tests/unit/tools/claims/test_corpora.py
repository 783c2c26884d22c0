import random

import pytest

from tools.claims.corpora import LANGUAGES, copy_corpus, write_corpus


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_of_a_document_is_in_no_other_one(language, tmp_path):
    corpus = write_corpus(language, tmp_path, 12, random.Random(3))

    texts = {path: (tmp_path / path).read_text("utf-8") for path in corpus.list_paths()}
    for path, word in corpus.unique.items():
        assert [other for other, text in texts.items() if word in text] == [path]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_is_answerable_when_its_statement_is_in_the_notes(language, tmp_path):
    corpus = write_corpus(language, tmp_path, 12, random.Random(3))

    facts = len(LANGUAGES[language].facts)
    answerable = [one for one in corpus.questions if one.answerable]
    statements = [
        line
        for path in corpus.list_paths()
        for line in (tmp_path / path).read_text("utf-8").splitlines()[4:]
        if line
    ]
    assert len(corpus.questions) == 12 * facts
    assert len(answerable) == len(statements)


def test_a_copied_corpus_knows_words_of_one_file_only(tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.md").write_text("garden compost", encoding="utf-8")
    (files / "b.md").write_text("garden lantern", encoding="utf-8")

    corpus = copy_corpus("two", files, tmp_path / "copy")

    assert corpus.unique == {"a.md": "compost", "b.md": "lantern"}


def test_an_absent_word_occurs_nowhere(tmp_path):
    corpus = write_corpus("english", tmp_path, 12, random.Random(3))

    word = corpus.make_absent_word(random.Random(3)).lower()

    assert not [path for path in tmp_path.rglob("*.md") if word in path.read_text("utf-8").lower()]
