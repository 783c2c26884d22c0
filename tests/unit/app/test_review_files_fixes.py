import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.review import apply_fixes
from kebab.core.chunks import hash_content
from kebab.core.review import FinishedUnit, UnitKey, UnitResult
from kebab.errors.catalog import InvalidInput, IoError
from kebab.review.items import fix_file, replace_units, select_fixes, write_file
from kebab.wire.review import ItemFix, ReviewApplyRequest
from tests.fakes.review_store import make_item, make_planned, make_run

TEXT = "Open the the door.\r\nA 👩 worng word.\r\n"

DATA = TEXT.encode()


def fix(start, end, text, **changes):
    return make_item(start, o=(start, end), fix=ItemFix(text=text, safe=True), **changes)


REPEATED, SPELLED = fix(8, 12, ""), fix(25, 30, "wrong")
"""Fixes of the text: the offsets are UTF-16 code units of the file."""


@pytest.fixture
def context(desk):
    return desk.context()


def store(context, *files, kind="review"):
    """Store a run with a unit of items for each file."""
    run = make_run(kind=kind, files=tuple(str(path) for path, _ in files))
    with context.open_review_store() as opened:
        opened.add_run(run)
        for number, (path, items) in enumerate(files):
            content_hash = hash_content(path.read_bytes())
            planned = make_planned(number)._replace(content_hash=content_hash)
            opened.add_document(run.run_id, planned)
            result = UnitResult(items=tuple(items))
            opened.add_unit(run.run_id, FinishedUnit(number, UnitKey(number, 0), result))


def write(desk, name="a.md", data=DATA):
    path = desk.write(name, "")
    path.write_bytes(data)
    return path


def apply(context, **fields):
    return apply_fixes(context, ReviewApplyRequest(run_id="r1", **fields))


def test_fixes_are_written_and_the_original_is_kept(desk, context):
    path = write(desk)
    store(context, (path, [SPELLED, REPEATED]))
    (file,) = apply(context).files

    assert path.read_bytes() == "Open the door.\r\nA 👩 wrong word.\r\n".encode()
    assert (path.parent / "a.md.orig").read_bytes() == TEXT.encode()
    assert (file.file, file.backup) == (str(path), f"{path}.orig")
    assert (file.applied, file.overlapping) == (2, 0)
    assert "\n-Open the the door.\n-A 👩 worng word.\n+Open the door.\n" in file.diff


def test_fixes_that_are_not_certain_wait_until_they_are_asked_for(desk, context):
    path = write(desk)
    guessed = fix(25, 30, "wrong")
    guessed = replace(guessed, fix=ItemFix(text="wrong"))
    store(context, (path, [REPEATED, guessed]), (write(desk, "b.md"), [guessed]))
    certain = apply(context, dry_run=True)
    assert [file.applied for file in certain.files] == [1]
    assert certain.waiting == 2

    both = apply(context, dry_run=True, unsafe=True)
    assert [file.applied for file in both.files] == [2, 1]
    assert both.waiting == 0
    named = apply(context, dry_run=True, uids=[guessed.uid])
    assert [file.applied for file in named.files] == [1, 1]


def test_a_file_without_a_suffix_is_fixed(desk, context):
    path = write(desk, "README_FIRST")
    store(context, (path, [REPEATED]))
    assert [file.applied for file in apply(context).files] == [1]


def test_a_fix_that_breaks_a_link_is_refused(desk, context):
    path = write(desk, data=b"# A\n\nSee [b](b.md) and the the end.\n")
    desk.write("b.md", "# B\n")
    broken = fix(13, 17, "sub/gone.md", k="link")
    store(context, (path, [broken, fix(26, 30, "")]))
    reply = apply(context, unsafe=True)
    assert ([file.applied for file in reply.files], reply.refused) == ([1], 1)
    assert path.read_bytes() == b"# A\n\nSee [b](b.md) and the end.\n"


def test_a_dry_run_writes_nothing(desk, context):
    path = write(desk)
    store(context, (path, [REPEATED]))
    reply = apply(context, dry_run=True)

    assert (reply.dry_run, reply.files[0].backup, reply.files[0].applied) == (True, None, 1)
    assert path.read_bytes() == TEXT.encode()
    assert [one.name for one in path.parent.iterdir()] == ["a.md"]


def test_only_the_chosen_items_are_applied(desk, context):
    path = write(desk)
    store(context, (path, [REPEATED, SPELLED]))

    assert apply(context, uids=[SPELLED.uid]).files[0].applied == 1
    assert path.read_bytes() == TEXT.replace("worng", "wrong").encode()


def test_an_unknown_item_is_refused(desk, context):
    store(context, (write(desk), [REPEATED]))

    with pytest.raises(InvalidInput, match="no item `f00`"):
        apply(context, uids=["f00"])


def test_files_without_fixes_are_left_alone(desk, context):
    store(context, (write(desk), [make_item(1, t="note", fix=UNSET)]))

    assert apply(context).files == []


def test_a_translation_has_no_fixes(desk, context):
    store(context, (write(desk), [REPEATED]), kind="translate")

    with pytest.raises(InvalidInput, match="translation"):
        apply(context)


def test_nothing_is_written_when_one_file_changed(desk, context):
    first, second = write(desk), write(desk, "b.md")
    store(context, (first, [REPEATED]), (second, [REPEATED]))
    second.write_bytes(b"other")

    with pytest.raises(InvalidInput, match="changed since the review"):
        apply(context)
    assert first.read_bytes() == TEXT.encode()


def test_a_file_that_is_gone_is_an_error(desk, context):
    path = write(desk)
    store(context, (path, [REPEATED]))
    path.unlink()

    with pytest.raises(IoError):
        apply(context)


def test_a_read_only_file_stays_and_so_do_all_others(desk, context):
    first, second = write(desk), write(desk, "b.md")
    store(context, (first, [REPEATED]), (second, [REPEATED]))
    second.chmod(0o444)

    with pytest.raises(IoError, match=r"b\.md"):
        apply(context)
    assert first.read_bytes() == second.read_bytes() == TEXT.encode()
    assert {one.name for one in first.parent.iterdir()} == {"a.md", "b.md"}


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("utf-8-sig", "the the 문.\r\n"), ("utf-16", "the the 문\n" * 9), ("cp949", "the the 문서\n")],
)
def test_the_encoding_the_mark_and_the_line_ends_stay(desk, encoding, text):
    data = text.encode(encoding)
    path = write(desk, data=data)
    found = fix_file(path, hash_content(data), [fix(3, 7, "")])

    assert found.after == text.replace("the the", "the", 1).encode(encoding)


def test_a_character_that_the_encoding_lacks_is_refused(desk):
    data = "the the 문서\n".encode("cp949")
    path = write(desk, data=data)

    with pytest.raises(InvalidInput, match="lacks a character"):
        fix_file(path, hash_content(data), [fix(0, 3, "👩")])


def test_permissions_and_links_stay(desk):
    path = write(desk)
    path.chmod(0o640)
    link = desk.notes / "link.md"
    link.symlink_to("a.md")
    write_file(fix_file(link, hash_content(path.read_bytes()), [REPEATED]))

    assert link.is_symlink()
    assert "Open the door" in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_an_earlier_original_is_never_replaced(desk):
    path = write(desk)
    original = path.with_name("a.md.orig")
    original.write_text("mine", encoding="utf-8")
    backup = write_file(fix_file(path, hash_content(path.read_bytes()), [REPEATED]))

    assert backup.name == "a.md.orig.2"
    assert original.read_text(encoding="utf-8") == "mine"


def test_a_failure_leaves_all_files_as_they_were_and_no_other(desk, context, monkeypatch):
    first, second = write(desk), write(desk, "b.md")
    store(context, (first, [REPEATED]), (second, [REPEATED]))
    replace = os.replace

    def fail(source, target):
        if target == second:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("kebab.review.items.os.replace", fail)
    with pytest.raises(IoError, match="No space left"):
        apply(context)
    assert first.read_bytes() == second.read_bytes() == DATA
    assert {one.name for one in first.parent.iterdir()} == {"a.md", "b.md"}


@pytest.mark.parametrize("is_done", [True, False], ids=["after", "before"])
def test_a_signal_while_a_file_is_replaced_leaves_its_original(desk, monkeypatch, is_done):
    path = write(desk)
    fixed = fix_file(path, hash_content(path.read_bytes()), [REPEATED])
    replace = os.replace

    def interrupt(source, target):
        if is_done:
            replace(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr("kebab.review.items.os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(fixed)
    assert path.read_bytes() == (fixed.after if is_done else DATA)
    assert (path.parent / "a.md.orig").read_bytes() == DATA
    assert len(list(path.parent.iterdir())) == 2


def test_a_file_that_changes_meanwhile_stays(desk):
    path = write(desk)
    fixed = fix_file(path, hash_content(path.read_bytes()), [REPEATED])
    path.write_bytes(b"edited")

    with pytest.raises(InvalidInput, match="changed"):
        write_file(fixed)
    assert path.read_bytes() == b"edited"


def test_of_overlapping_fixes_the_first_is_chosen():
    first, inside, after = fix(2, 6, "x"), fix(4, 5, "y"), fix(6, 8, "z")
    twice = fix(9, 9, ","), fix(9, 9, ",")

    assert select_fixes([after, first, inside, *twice]) == [first, after, twice[0]]


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=6)


@given(st.text(alphabet="ab👩한\r\n", min_size=1), SPANS, st.text(alphabet="x👩", max_size=3))
def test_text_outside_of_fixes_never_changes(text, spans, new):
    units = text.encode("utf-16-le")
    size = len(units) // 2
    starts = {len(text[:at].encode("utf-16-le")) // 2 for at in range(len(text) + 1)}
    items = [fix(a, b, new) for a, b in spans if b <= size and {a, b} <= starts]
    chosen = select_fixes(items)
    result = replace_units(text, chosen)
    kept, done = "", 0
    for one in chosen:
        kept += units[done * 2 : one.o[0] * 2].decode("utf-16-le")
        done = one.o[1]
    kept += units[done * 2 :].decode("utf-16-le")

    assert result.replace("x", "").count("👩") + result.count("x") == (
        kept.count("👩") + len(chosen) * len(new)
    )
    assert len(result) == len(kept) + len(chosen) * len(new)


def test_a_difference_says_that_the_last_line_has_no_end(desk):
    path = write(desk, data=b"a\r\nb")
    assert fix_file(path, hash_content(b"a\r\nb"), [fix(3, 4, "c")]).reply.diff == (
        "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n a\n"
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Use `a  b` here.", "a  b", "a b"),
        ("    code\n", "code", "c"),
        ("```\ncode\n```\nmore\n", "\n```\n", "\n"),
        ("One\n\ntwo.", "\n\n", "\n"),
        ("| a | b |\n|---|---|\n| c | d |\n", "| c", "\nc"),
        ("See [a](b) there.", "](b", "] (b"),
        ("**重要。** 次", " ", ""),
        ("See [a](https://a.org/teh).", "teh", "the"),
    ],
)
def test_a_fix_that_changes_code_or_loses_a_block_or_a_link_is_refused(desk, text, old, new):
    start = text.index(old)
    path = write(desk, data=text.encode())
    found = fix_file(path, hash_content(text.encode()), [fix(start, start + len(old), new)])
    assert (found.reply.applied, found.refused) == (0, 1)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("Open the the door.", " the", ""),
        ("##Title\n\nx", "##", "## "),
        ("See (a)[b] there.", "(a)[b]", "[a](https://b.org)"),
        ("See [a](A.md).", "A.md", "a.md"),
    ],
)
def test_other_fixes_are_kept(desk, text, old, new):
    start = text.index(old)
    path = write(desk, data=text.encode())
    one = fix(start, start + len(old), new, k="link")
    assert fix_file(path, hash_content(text.encode()), [one]).reply.applied == 1


def test_only_the_harmful_fix_of_several_is_refused(desk):
    text = b"Use `a  b` here here and and there."
    path = write(desk, data=text)
    found = fix_file(path, hash_content(text), [fix(5, 9, "a b"), fix(15, 20, ""), fix(24, 28, "")])
    assert (found.after, found.refused) == (b"Use `a  b` here and there.", 1)


def test_a_file_that_cannot_be_read_again_is_an_io_error(desk, monkeypatch):
    path = write(desk)
    fixed = fix_file(path, hash_content(path.read_bytes()), [REPEATED])

    def refuse(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("kebab.review.items.Path.read_bytes", refuse)
    with pytest.raises(IoError, match="Permission denied"):
        write_file(fixed)
