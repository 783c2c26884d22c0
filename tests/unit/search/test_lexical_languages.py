import pytest

from kebab.search.lexical import QueryLanguage, find_foreign
from kebab.search.snippet import PassageCache

_GERMAN = "Die Sicherung der Dokumente ist nicht auf dem Server, und sie wird jede Nacht erneuert."
_ENGLISH = "The backup of all the documents is on the server, and it runs every night at two."
_QUESTION = "Where is the backup of the documents?"


def load_all(base):
    reader = base.reader()
    keys = sorted(reader.find_committed_keys(range(1, 10)))
    return PassageCache(reader), PassageCache(reader).load_chunks(keys)


@pytest.mark.parametrize(
    ("query", "lang", "text", "differs"),
    [
        (_QUESTION, "de", _GERMAN, True),
        (_QUESTION, "en", _ENGLISH, False),
        ("Wo wurde Halford Mackinder geboren?", "de", _GERMAN, False),
        ("Wo wurde Halford Mackinder geboren?", "en", _ENGLISH, True),
        ("Halford Mackinder", "de", _GERMAN, False),
        ("언제 토마토를 심나요", None, "Tomatoes: May.", True),
        ("When are tomatoes planted?", None, "Tomatoes: May.", False),
    ],
)
def test_a_passage_is_compared_by_its_language_or_else_by_its_script(
    base, query, lang, text, differs
):
    base.add("a.md", text, lang=lang)
    _, (chunk,) = load_all(base)

    assert QueryLanguage(query).differs_from(chunk) is differs


def test_passages_are_foreign_only_beside_others(base):
    base.add("a.md", _GERMAN, lang="de")
    passages, (german,) = load_all(base)
    assert find_foreign(_QUESTION, [german.key], passages) == set()

    base.add("b.md", _ENGLISH, lang="en")
    passages, chunks = load_all(base)

    assert find_foreign(_QUESTION, [chunk.key for chunk in chunks], passages) == {german.key}
