from collections import Counter
from pathlib import Path

import pytest

from kebab.app.fix_checks import Edit, keep_harmless
from kebab.wire.review import ItemFix
from tests.fakes.review_store import make_item


def edit(text, old, new, *, safe=True, kind="link"):
    start = text.index(old)
    fix = ItemFix(text=new, safe=True) if safe else ItemFix(text=new)
    return Edit(make_item(start, k=kind, o=(start, start + len(old)), fix=fix), old)


def keep(text, *edits, path="/nowhere/a.md", errors=None):
    def apply(chosen):
        done = text
        for one in sorted(chosen, key=lambda one: -one.item.o[0]):
            start, end = one.item.o
            done = done[:start] + one.item.fix.text + done[end:]
        return done

    return keep_harmless(Path(path), text, edits, apply, errors)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Use `a  b` here.", "a  b", "a b"),
        ("| a | b |\n|---|---|\n| c | d |\n", "| c", "\nc"),
        ("See [a](b) there.", "](b", "] (b"),
        ("**重要。** 次", " ", ""),
    ],
)
def test_a_fix_that_changes_code_or_loses_a_block_or_a_link_is_refused(text, old, new):
    assert keep(text, edit(text, old, new, safe=False)) == []


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Open the the door.", " the", ""),
        ("##Title\n\nx", "##", "## "),
        ("See (a)[b] there.", "(a)[b]", "[a](https://b.org)"),
        ("See [a](https://a.org/x%20y).", "https://a.org/x%20y", "https://b.org"),
    ],
)
def test_other_fixes_are_kept(text, old, new):
    one = edit(text, old, new)
    assert keep(text, one) == [one]


def test_a_certain_fix_needs_its_target(tmp_path):
    text = "See [a](A.md)."
    (tmp_path / "a.md").write_text("x")
    path = str(tmp_path / "page.md")
    good, bad = edit(text, "A.md", "a.md"), edit(text, "A.md", "b.md")
    assert keep(text, good, path=path) == [good]
    assert keep(text, bad, path=path) == []
    unsure = edit(text, "A.md", "b.md", safe=False)
    assert keep(text, unsure, path=path) == [unsure]


def test_only_the_harmful_fix_of_several_is_refused():
    text = "Use `a  b` here here and and there."
    good = [edit(text, "here here", "here"), edit(text, "and and", "and")]
    assert keep(text, edit(text, "a  b", "a b"), *good) == good


def test_a_fix_that_leads_to_another_error_of_its_kind_is_refused():
    def count(text):
        return {"link": text.count("bad"), "spelling": text.count("bad")}

    text = "See [a](x)."
    assert keep(text, edit(text, "x", "https://bad.org"), errors=count) == []
    other = edit(text, "See", "bad", kind="grammar")
    assert keep(text, other, errors=lambda text: Counter(count(text))) == [other]
