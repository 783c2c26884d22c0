import os
from contextlib import closing

import apsw
import pytest

from kebab.app.verify import verify
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import InvalidInput
from kebab.wire.repair import VerifyCounts, VerifyRequest


@pytest.fixture
def notes(desk):
    for name in ("a.md", "b.md", "c.md"):
        desk.write(name, f"# {name}\n\nthe cat of {name}\n")
    desk.ingest()
    return desk


def run(desk, *, cancel=None, **fields):
    return verify(desk.context(), VerifyRequest(**fields), ignore_progress, cancel or Cancel())


def kinds(reply):
    return [(one.doc_path, one.kind) for one in reply.differences]


def test_equal_files_are_equal(notes):
    reply = run(notes)

    assert (reply.equal, reply.documents, kinds(reply)) == (True, 3, [])
    assert reply.counts == VerifyCounts(equal=3)
    assert reply.passages == 3
    assert reply.bytes == sum(path.stat().st_size for path in notes.notes.iterdir())


def test_every_difference_is_counted_and_some_are_listed(notes):
    notes.write("a.md", "longer than before, and other\n")
    path = notes.notes / "b.md"
    stat = path.stat()
    path.write_text(path.read_text().replace("cat", "dog"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    (notes.notes / "c.md").unlink()

    reply = run(notes)

    assert kinds(reply) == [("a.md", "changed"), ("b.md", "same_size"), ("c.md", "gone")]
    assert not reply.equal
    less = run(notes, limit=1)
    assert (kinds(less), less.left_out) == ([("a.md", "changed")], 2)
    assert less.counts == reply.counts
    assert kinds(run(notes, paths=["c.md"])) == [("c.md", "gone")]


def test_a_folder_in_place_of_a_file_cannot_be_read(notes):
    (notes.notes / "a.md").unlink()
    (notes.notes / "a.md").mkdir()

    assert kinds(run(notes)) == [("a.md", "unreadable")]


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ("text = 'x'", "lack the hash of their text"),
        ('start = start + 1, "end" = "end" + 1', "do not stand in the file"),
    ],
)
def test_passages_are_compared_with_hashes_and_with_the_file(notes, change, detail):
    with closing(apsw.Connection(str(notes.data / "kebab.sqlite"))) as database:
        database.execute(f"UPDATE chunks SET {change} WHERE doc = 1")

    (found,) = run(notes).differences

    assert (found.kind, found.detail) == ("passages", f"1 of 1 {detail}")


def test_a_stopped_comparison_claims_nothing(notes):
    cancel = Cancel()
    cancel.request()

    reply = run(notes, cancel=cancel)

    assert (reply.equal, reply.cancelled, reply.documents) == (False, True, 0)


def test_a_path_outside_of_the_index_is_refused(notes):
    with pytest.raises(InvalidInput, match=r"nothing\.md"):
        run(notes, paths=["nothing.md"])


def test_missing_vectors_are_counted(lab):
    lab.write("a.md", "# Cats\n\nthe cat sleeps on the mat\n")
    lab.ingest()
    assert (run(lab).vectors, run(lab).missing_vectors) == (1, 0)

    for path in (lab.data / "lance").rglob("*.manifest"):
        path.unlink()

    reply = run(lab)
    assert (reply.equal, reply.missing_vectors) == (False, 1)
