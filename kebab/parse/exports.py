"""Reads what other programs export: chats in JSON (ChatGPT, Claude, Slack), and notes of Evernote.

Each conversation, day or note is a section.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from html import unescape
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from kebab.core.documents import BlockKind, Metadata, ParsedDocument
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import (
    find_child,
    get_local_tag,
    join_text,
    list_children,
    read_children,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.metadata import list_unique
from kebab.parse.text.data import DataParser, get_text, list_records, load_json
from kebab.parse.text.markdown import MarkdownParser
from kebab.parse.web.html import add_fragment
from kebab.text.dates import parse_date
from kebab.text.normalize import split_names

_SLACK_LINK = re.compile(r"<([^<>|\s]+)(?:\|([^<>]*))?>")
_UNSHOWN = "hidden messages, other branches, thoughts and fields of chats"
_CITATION = re.compile("\ue200[^\ue201]*\ue201")


class Message(NamedTuple):
    """What somebody said; `day` is ISO 8601, empty when unknown."""

    speaker: str
    text: str
    day: str = ""


class ChatExportParser:
    """Parses an export of chats; JSON of another shape is read as data."""

    def parse(self, data: bytes, path: str, companion: bytes = b"") -> ParsedDocument:
        """Return the document; each conversation or day is a section.

        `companion` is the list of people that Slack exports beside the folder of a channel.
        """
        content = load_json(decode(data).text)
        users = load_json(decode(companion).text) if companion else None
        conversations = list(read_conversations(content, path, users))
        if not any(said.text.strip() for _, messages in conversations for said in messages):
            return DataParser("json").parse(data, path)
        builder = TextBuilder()
        titles = []
        for title, messages in conversations:
            said = [one for one in messages if one.text.strip()]
            if said:
                titles.append(title)
                builder.add_heading(1, title)
            for message in said:
                text = message.text.strip()
                gap = " " if text[:1].isalnum() else "\n\n"
                source = f"**{message.speaker or 'unknown'}:**{gap}{text}"
                document = MarkdownParser().parse(source.encode("utf-8", "replace"), "message")
                blocks = (  # a heading of a message heads no conversation
                    block._replace(kind=BlockKind.PARAGRAPH, level=0, label="")
                    if block.kind is BlockKind.HEADING
                    else block
                    for block in document.blocks
                )
                builder.add_blocks(document._replace(blocks=tuple(blocks)))
        builder.leave_out_unknown(_UNSHOWN, _find_texts(content))
        file = PurePosixPath(path)
        several = f"{file.parent.name}/{file.name}".strip("/")
        title = titles[0] if len(titles) == 1 else several
        return builder.build(path, Metadata(title=title))


def read_conversations(
    content: object, path: str, users: object = None
) -> Iterator[tuple[str, list[Message]]]:
    """Yield the titles of conversations with their messages; none for an unknown shape.

    `users` is the list of people that an export of Slack has beside its channels.
    """
    entries = list_records(content)
    if entries and "mapping" in entries[0]:
        for one in entries:
            yield _name(one, "title", reversed([*_read_chatgpt(one)]))
    elif entries and "chat_messages" in entries[0]:
        for one in entries:
            yield _name(one, "name", _read_claude(one))
    elif entries and "ts" in entries[0]:
        file = PurePosixPath(path)
        title = f"{file.parent.name} {file.stem}".strip()
        people = _list_people(entries, users)
        yield title, [_read_slack(one, people) for one in entries]


def _name(
    entry: Mapping[str, Any], key: str, messages: Iterable[Message]
) -> tuple[str, list[Message]]:
    said = [message for message in messages if message.text.strip()]
    day = said[0].day if said else ""
    title = get_text(entry, key) or "conversation"
    return f"{title} ({day})" if day else title, said


_NO_WORDS = (*split_names("node parent children type role status sender id url slug model"),)
"""The ends of the keys whose values are no words of people."""


def _find_texts(value: object, keys: Collection[str] = (), key: str = "") -> Iterator[str]:
    """Yield the texts at any depth of a value, those of some keys or all, in their order."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _find_texts(inner, keys, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _find_texts(inner, keys, key)
    elif value and isinstance(value, str):
        is_sought = key in keys if keys else not key.endswith(_NO_WORDS)
        yield from [value] * is_sought


def _read_chatgpt(entry: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the messages of the branch that is shown, from its end."""
    nodes = entry["mapping"] if isinstance(entry["mapping"], dict) else {}
    number, seen = entry.get("current_node") or next(reversed(nodes), None), set()
    while isinstance(number, str) and number not in seen and isinstance(nodes.get(number), dict):
        seen.add(number)
        said = nodes[number].get("message")
        number = nodes[number].get("parent")
        if not isinstance(said, dict):
            continue
        role, metadata = get_text(said.get("author"), "role"), said.get("metadata")
        facts = metadata if isinstance(metadata, dict) else {}
        if role != "system" and not facts.get("is_visually_hidden_from_conversation"):
            texts = [*_list_texts(said.get("content"))]
            texts += _find_texts(facts.get("attachments"), ("name",))
            yield Message(role, "\n\n".join(texts), _read_time(said.get("create_time")))


def _list_texts(content: object) -> Iterator[str]:
    """Yield the texts of a message of ChatGPT: what was typed, spoken, run, read or drawn."""
    if get_text(content, "content_type") in {"code", "execution_output"}:
        yield f"```{get_text(content, 'language')}\n{get_text(content, 'text')}\n```"
        return
    for text in _find_texts(content, ("title", "text", "parts", "result", "prompt")):
        # A document that was written beside the chat is an object in a text.
        written = _find_texts(load_json(text), ("name", "content")) if text[0] == "{" else ()
        yield "\n\n".join(written) or _CITATION.sub("", text)


def _read_claude(entry: Mapping[str, Any]) -> Iterator[Message]:
    for said in list_records(entry["chat_messages"]):
        parts = list_records(said.get("content"))
        texts = [get_text(said, "text") or "\n".join(get_text(part, "text") for part in parts)]
        # An artifact is what a tool wrote; an attachment has the text of a file.
        inputs = [part.get("input") for part in parts]
        texts += _find_texts(inputs, ("title", "content", "code", "new_str", "query"))
        files = [said.get("attachments"), said.get("files")]
        texts += _find_texts(files, ("file_name", "extracted_content"))
        text = "\n\n".join(filter(None, texts))
        yield Message(get_text(said, "sender"), text, get_text(said, "created_at")[:10])


def _read_slack(said: Mapping[str, Any], people: Mapping[str, str]) -> Message:
    user = get_text(said, "user")
    speaker = people.get(user) or get_text(said, "username") or user
    text = get_text(said, "text")
    if not text:  # it is in blocks only
        found = _find_texts(said.get("blocks"), ("text", "url", "user_id"))
        text = " ".join(people.get(one, one) for one in found)
    card = ("author_name", "pretext", "title", "text", "value")
    texts = [text, *_find_texts(said.get("attachments"), card)]
    for one in list_records(said.get("files")):
        texts += [get_text(one, "title") or get_text(one, "name")]
        texts += [get_text(one, "plain_text") or get_text(one, "preview")]
    linked = (_SLACK_LINK.sub(lambda link: _read_slack_link(link, people), it) for it in texts)
    return Message(speaker, "\n\n".join(filter(None, map(unescape, linked))))


def _list_people(entries: list[dict[str, Any]], users: object) -> dict[str, str]:
    """Return the names of people by their ids, from messages and from the list of users."""
    found = {}
    authors = [(one, one.get("user_profile"), "user") for one in entries]
    people = [(one, one.get("profile"), "id") for one in list_records(users)]
    for one, profile, key in authors + people:
        names = (get_text(profile, "display_name"), get_text(profile, "real_name"))
        name = next(filter(None, (*names, get_text(one, "real_name"), get_text(one, "name"))), "")
        if name:
            found[get_text(one, key)] = name
    return found


def _read_slack_link(link: re.Match[str], people: Mapping[str, str]) -> str:
    """Return what Slack shows for `<@U1>`, `<#C1|name>`, `<!here>` and `<https://…|text>`."""
    target, label = link[1], link[2] or ""
    if target.startswith("@"):
        return f"@{label or people.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:]}"
    return f"[{label}]({target})" if label else target


def _read_time(seconds: object) -> str:
    if not isinstance(seconds, int | float):
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


class EnexParser:
    """Parses a note of Evernote."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document of the first note; the notes of an export are its members."""
        elements = read_children(data, "en-export", {"en-export"})
        note = next((one for one in elements if get_local_tag(one.tag) == "note"), None)
        if note is None:
            raise build_refusal("not an Evernote export: it has no notes")
        builder = TextBuilder()
        title, attributes = (
            join_text(find_child(note, "title")),
            find_child(note, "note-attributes"),
        )
        builder.add_heading(1, title or "(untitled)")
        warnings = [*_add_content(builder, note, title)]
        rest = list_children(attributes, "source-url", "place-name")
        builder.leave_out("fields of notes", " ".join(map(join_text, rest)))
        author = join_text(find_child(attributes, "author"))
        metadata = Metadata(
            title or None,
            tags=list_unique(map(join_text, list_children(note, "tag")))[:100],
            authors=(author,) if author else (),
            date=parse_date(join_text(find_child(note, "created"))),
        )
        return builder.build(path, metadata, warnings=warnings)


def _add_content(builder: TextBuilder, note: Element, title: str) -> Iterator[str]:
    """Add the text of a note and the names of its files; yield warnings."""
    try:
        add_fragment(builder, getattr(find_child(note, "content"), "text", None) or "", 1)
    except ValueError:
        yield f"a note is unreadable: {title}"
    attributes = (find_child(one, "resource-attributes") for one in list_children(note, "resource"))
    if files := [name for one in attributes if (name := join_text(find_child(one, "file-name")))]:
        builder.add_paragraph("Attachments:")
        builder.add_list((0, name) for name in files)
