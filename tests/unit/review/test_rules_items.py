"""A finding becomes an item whose place, reason and fix a caller can rely on."""

import hashlib
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from kebab.review.document import Finding, Fix
from kebab.review.rules import build_item, build_items, locate_item
from kebab.wire.review import AgentItem
from tests.fakes.review import make_document

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\0\x1b\r\n\t \u202e\u2028\u0301\u200d\U0001f469\U0001f1f0\u1112\u1161"),
        st.characters(),
    ),
    max_size=400,
)


def make_finding(start: int = 0, end: int = 3, **fields: object) -> Finding:
    defaults: dict[str, object] = {"kind": "spelling", "severity": "warning", "reason": "wrong"}
    return Finding(start=start, end=end, **{**defaults, **fields})  # type: ignore[arg-type]


def test_an_item_counts_in_utf16_and_in_sentences_of_the_whole_text() -> None:
    raw = "---\r\na: b\r\n---\r\n\U0001f600 One two. Teh cat.\r\n"
    document = make_document(raw)
    start = document.text.index("Teh")
    item = build_item(document, make_finding(start, start + 3))
    units = raw.encode("utf-16-le")
    assert units[2 * item.o[0] : 2 * item.o[1]].decode("utf-16-le") == "Teh"
    first, last = item.i
    assert first == last
    one = document.sentences[first]
    assert document.text[one.start : one.end] == "Teh cat."
    assert locate_item(document, item) == (start, start + 3)


def test_the_uid_is_the_sha1_of_kind_place_and_rule() -> None:
    item = build_item(make_document("One.\n"), make_finding(rule_id="a-rule"))
    assert item.uid == hashlib.sha1(b"spelling|0,0|0,3|a-rule").hexdigest()
    other = build_item(make_document("One.\n"), make_finding(reason="other"))
    assert other.uid == hashlib.sha1(b"spelling|0,0|0,3|").hexdigest()


@given(HOSTILE, HOSTILE, HOSTILE, st.one_of(st.none(), st.floats(0, 1)))
def test_every_item_is_valid_and_its_texts_are_clean(
    reason: str, text: str, note: str, conf: float | None
) -> None:
    finding = make_finding(reason=reason, edit="replace", fix=Fix(text, note), conf=conf)
    item = build_item(make_document("One.\n"), finding)
    data = msgspec.json.encode(item)
    assert msgspec.json.decode(data, type=AgentItem) == item
    assert isinstance(item.fix, msgspec.Struct)
    lines = [item.r, item.fix.note or ""]
    assert item.r
    for line in lines:
        assert unicodedata.is_normalized("NFC", line)
        assert not any(unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} for sign in line)
    assert not {"\0", "\x1b", "\u202e"} & set(item.fix.text)


@pytest.mark.parametrize(
    ("grapheme", "kept"),
    [
        ("\U0001f469\u200d\U0001f469\u200d\U0001f467", 31),
        ("\U0001f1f0\U0001f1f7", 79),
        ("e\u0323\u0301", 79),
        ("\u1112\u1161\u11ab", 159),
        ("가", 159),
    ],
)
def test_a_long_reason_is_cut_between_graphemes(grapheme: str, kept: int) -> None:
    item = build_item(make_document("One.\n"), make_finding(reason=grapheme * 200))
    assert item.r == unicodedata.normalize("NFC", grapheme) * kept + "…"


def test_an_edit_without_its_text_is_a_note_and_a_deletion_has_an_empty_one() -> None:
    document = make_document("One.\n")
    assert build_item(document, make_finding(edit="replace")).t == "note"
    note = build_item(document, make_finding(edit="note", fix=Fix("x")))
    assert (note.t, note.fix) == ("note", msgspec.UNSET)
    deletion = build_item(document, make_finding(edit="delete"))
    assert deletion.t == "delete"
    assert isinstance(deletion.fix, msgspec.Struct)
    assert deletion.fix.text == ""


@pytest.mark.parametrize(
    ("raw", "expected"), [("a\r\nb\r\n", "x\r\ny"), ("a\rb\r", "x\ry"), ("a\nb\n", "x\ny")]
)
def test_a_fix_has_the_line_ends_of_the_file(raw: str, expected: str) -> None:
    item = build_item(make_document(raw), make_finding(0, 1, edit="replace", fix=Fix("x\ny")))
    assert isinstance(item.fix, msgspec.Struct)
    assert item.fix.text == expected


def test_the_same_finding_is_one_item() -> None:
    findings = [make_finding(0, 3), make_finding(0, 3), make_finding(5, 8)]
    assert [item.o for item in build_items(make_document("One. Two.\n"), findings)] == [
        (0, 3),
        (5, 8),
    ]


@pytest.mark.parametrize(("media", "safe"), [("text/markdown", True), ("text/plain", UNSET)])
def test_a_fix_is_certain_in_markdown_only(media: str, safe: object) -> None:
    finding = make_finding(edit="replace", fix=Fix("One", safe=True))
    fix = build_item(make_document("Ona.\n", media=media), finding).fix
    assert isinstance(fix, msgspec.Struct)
    assert fix.safe is safe
