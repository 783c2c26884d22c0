import pytest

from kebab.core.queries import Mode, Query
from kebab.search.reordering import is_bare


def _search(base, text):
    hits = base.engine().search(Query(text=text, mode=Mode.LEXICAL)).hits
    return [hit.chunk.text for hit in hits]


@pytest.mark.parametrize(
    "bare",
    [
        "---\ntags: [theme]\nstatus: done\n---",
        "# Theme",
        "Theme\n=====",
        "[theme]: https://example.org/theme",
        "- [Theme](#theme)\n- [[Theme]]",
    ],
)
def test_a_bare_passage_stands_behind_text_with_the_same_words(base, bare):
    text = "Choose a theme with the menu, which decides about the colours of windows."
    base.add("a.md", bare, text)
    base.add("b.md", "nothing of this kind")

    assert _search(base, "theme") == [text, bare]


def test_a_bare_passage_with_words_of_its_own_stays_first(base):
    base.add("a.md", "---\nauthor: Vogelsang\n---", "text on ropes")
    base.add("b.md", "nothing of this kind")

    assert _search(base, "vogelsang ropes")[0] == "---\nauthor: Vogelsang\n---"


def test_text_with_links_is_not_bare(base):
    base.add("a.md", "See [the theme](theme.md) of the site.")

    (chunk,) = base.reader().load_chunks([1])
    assert not is_bare(chunk)
