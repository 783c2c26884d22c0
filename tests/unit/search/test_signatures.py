from typing import Any

import numpy as np
import pytest

from kebab.core.durable import DerivedFile
from kebab.core.queries import Filters
from kebab.search.duplicates import find_duplicates
from kebab.search.signatures import compute_jaccard, shingle_texts
from kebab.text.tokenizer import tokenize

TEXT = " ".join(f"word{number}" for number in range(40))
EDITED = f"{TEXT} edited"


@pytest.fixture
def kept(tmp_path):
    return DerivedFile(tmp_path / "kept", b"signatures ")


def find(base, kept, filters=None):
    """Return the groups, and the phases of what had to be computed."""
    events: list[Any] = []
    reader = base.reader()
    found = find_duplicates(reader, 0.7, filters or Filters(), kept, report=events.append)
    shown = [(group.texts, group.cluster.similarity) for group in found.groups]
    return shown, [(event.phase, event.done, event.total) for event in events]


def find_anew(base, tmp_path):
    return find(base, DerivedFile(tmp_path / "new", b"signatures "))


def test_what_was_computed_is_kept_and_only_a_new_text_is_computed(base, kept, tmp_path):
    base.add("a.md", TEXT, EDITED)
    base.add("b.md", TEXT)

    first, computed = find(base, kept)
    again, nothing = find(base, kept)
    base.add("c.md", f"{TEXT} other")
    later, added = find(base, kept)

    assert computed == [("sign", 2, 2)]
    assert (again, nothing) == (first, [])
    assert (later, added) == (find_anew(base, tmp_path)[0], [("sign", 1, 1)])


def test_measured_similarities_are_kept(base, kept, monkeypatch):
    base.add("a.md", TEXT)
    base.add("b.md", EDITED)
    first, _ = find(base, kept)
    monkeypatch.setattr("kebab.search.signatures.compute_jaccard", None)

    assert (find(base, kept)[0], len(first)) == (first, 1)


def test_texts_that_are_gone_are_forgotten_unless_a_filter_hides_them(base, kept):
    base.add("a.md", TEXT, tags=["x"])
    base.add("b.md", EDITED)
    find(base, kept)
    full = kept.read()
    find(base, kept, Filters(tag=("x",)))
    hidden = kept.read()
    base.add("b.md", "short")
    find(base, kept)
    _, computed = find(base, kept)

    assert (hidden, computed) == (full, [])
    assert len(kept.read()) < len(full)


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x91\x01"])
def test_content_that_cannot_be_read_is_computed_again(base, kept, tmp_path, content):
    base.add("a.md", TEXT)
    base.add("b.md", EDITED)
    kept.write(content)

    assert find(base, kept) == find_anew(base, tmp_path)


def test_nothing_is_kept_of_a_text_that_lacks_its_hash(base, kept):
    base.add("a.md", TEXT)
    base.writer._database.execute("UPDATE chunks SET text = text || '!'")

    find(base, kept)

    assert kept.read() is None


def test_a_place_that_cannot_be_written_costs_only_the_next_call(base, kept):
    base.add("a.md", TEXT)
    kept.path.mkdir()

    assert find(base, kept) == find(base, kept) == ([], [("sign", 1, 1)])


def similarity(left, right):
    left, right = (np.unique(shingle_texts([text])[0]) for text in (left, right))
    return compute_jaccard(left, right)


@pytest.mark.parametrize(
    "text",
    [
        "one two three four five",
        "쿠버네티스 클러스터를 설치한다",
        "日本語の文章を比べる",
        "x",
        "",
        "snake_case v1.2.3",
    ],
)
def test_a_text_equals_itself(text):
    assert similarity(text, text) == 1.0


def test_similarity_counts_shared_runs_of_three_tokens():
    assert similarity("alpha beta gamma delta", "alpha beta gamma omega") == pytest.approx(1 / 3)


def test_the_order_of_words_matters():
    assert similarity("alpha beta gamma", "gamma beta alpha") == 0.0


def test_forms_with_the_same_tokens_are_equal():
    assert similarity("The Backups are RESTORED", "the backup are restored") == 1.0


def test_scripts_without_blanks_are_compared_inside_their_runs():
    same = similarity("저장소를 먼저 검사한 다음 복원한다", "저장소를 먼저 검사한 뒤에 복원한다")

    assert 0.3 < same < 1.0
    assert similarity("저장소를 먼저 검사한다", "날씨가 아주 좋은 날이다") == 0.0


def test_no_run_crosses_from_one_text_into_the_next():
    shingles, starts, counts = shingle_texts(["a1 b1 c1 d1", "e1", "f1 g1 h1"])

    assert (starts.tolist(), counts.tolist(), len(shingles)) == ([0, 2, 3], [4, 1, 3], 4)
    alone = [shingle_texts([text])[0].tolist() for text in ("a1 b1 c1 d1", "e1", "f1 g1 h1")]
    assert shingles.tolist() == [number for one in alone for number in one]


def test_tokens_are_those_of_the_index():
    text = "Don't e-mail snake_case v1.2.3 배추김치 日本 " + "가" * 40

    assert shingle_texts([text])[2].tolist() == [len(tokenize(text))]


def test_empty_sets_have_no_similarity():
    none = np.empty(0, np.uint64)

    assert compute_jaccard(none, none) == 0.0
