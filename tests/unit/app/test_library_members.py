"""Documents within mails, mailboxes and archives, as the use cases show them."""

import os
from email.message import EmailMessage

import pytest

from kebab.app.fetch import fetch
from kebab.app.grep import grep
from kebab.app.library import remove_documents
from kebab.app.outline import outline
from kebab.wire.fetch import FetchRequest, GrepRequest, Outline, OutlineRequest
from kebab.wire.library import FetchResult, RmRequest

MEMBER = "m.eml!/plan.md"


def put(desk, text="# Plan\n\nthe quay\n"):
    message = EmailMessage()
    message["Subject"] = "Works"
    message.set_content("see the plan\n")
    message.add_attachment(text, filename="plan.md", subtype="markdown")
    path = desk.notes / "b.mbox"
    path.write_bytes(b"From a\n" + message.as_bytes() + b"\n")
    (desk.notes / "m.eml").write_bytes(message.as_bytes())


@pytest.fixture
def desk(desk):
    put(desk)
    desk.ingest()
    return desk


def list_all(desk):
    return {path: one.freshness for path, one in desk.documents().items()}


REFERENCES = (
    f"{MEMBER}:3",
    f"{MEMBER}#L3",
    "m.eml#attachment=plan.md&L3",
    "b.mbox!/1.eml!/plan.md:3",
    "b.mbox#message=1&attachment=plan.md&L3",
)


def test_a_reference_names_lines_of_an_attachment(desk):
    for reference in REFERENCES:
        (found,) = fetch(desk.context(), FetchRequest(refs=[reference])).results

        assert isinstance(found, FetchResult)
        assert (found.text, found.freshness) == ("the quay", "fresh"), reference


def test_attachments_are_searched_as_files_are(desk):
    for path in ("m.eml!/*", "m.eml", "*.md"):
        hits = desk.search("quay", path_glob=path).hits
        assert "m.eml!/plan.md#L1-L3" in [hit.citation.uri for hit in hits]

    lines = grep(desk.context(), GrepRequest(pattern="quay", paths=["m.eml"])).hits
    assert {(hit.doc_path, hit.line) for hit in lines} == {(MEMBER, 3)}


def test_the_outline_of_a_mailbox_lists_its_messages_and_that_of_a_mail_its_own_text(desk):
    box = outline(desk.context(), OutlineRequest(name="b.mbox"))
    mail = outline(desk.context(), OutlineRequest(name="m.eml"))

    kinds = [one.kind for one in (box, mail) if isinstance(one, Outline)]
    assert kinds == ["folder", "document"]
    (desk.notes / "b.mbox").unlink()
    box = outline(desk.context(), OutlineRequest(name="b.mbox"))
    assert isinstance(box, Outline)
    assert (box.documents, box.freshness) == (2, "gone")


def test_a_member_changes_with_its_file(desk):
    assert set(list_all(desk).values()) == {"fresh"}

    put(desk, "# Plan\n\nthe pier\n")
    os.utime(desk.notes / "m.eml", (1, 1))
    assert list_all(desk)[MEMBER] == "changed"

    (desk.notes / "m.eml").unlink()
    assert list_all(desk)[MEMBER] == "gone"


def test_a_removed_member_returns_and_a_removed_mail_takes_its_members(desk):
    remove_documents(desk.context(), RmRequest(names=[MEMBER]))
    assert MEMBER not in list_all(desk)
    assert desk.again().new == 1

    remove_documents(desk.context(), RmRequest(names=["m.eml"]))
    assert not any(path.startswith("m.eml") for path in list_all(desk))
    assert desk.again().new == 2


def test_a_file_beside_a_folder_with_the_name_of_its_members_leaves_that(desk):
    folder = desk.notes / "m.eml!"
    folder.mkdir()
    (folder / "own.md").write_text("# Own\n\nthe pier\n")
    desk.ingest()
    (found,) = fetch(desk.context(), FetchRequest(refs=["m.eml!/own.md:3"])).results
    assert isinstance(found, FetchResult)
    assert (found.text, found.freshness) == ("the pier", "fresh")

    remove_documents(desk.context(), RmRequest(names=["m.eml"]))
    assert "m.eml!/own.md" in desk.documents()
    assert MEMBER not in desk.documents()
