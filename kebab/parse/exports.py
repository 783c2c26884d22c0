"""Reads what other programs export: chats in JSON (ChatGPT, Claude, Slack), and notes of Evernote.

Each conversation, day or note is a section.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import unescape
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from kebab.core.documents import BlockKind, Metadata, ParsedDocument
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import find_child, get_local_tag, list_children, read_children
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.metadata import list_unique
from kebab.parse.text.data import DataParser, get_text, list_records, load_json
from kebab.parse.text.markdown import MarkdownParser
from kebab.parse.web.html import add_fragment
from kebab.text.dates import parse_date

_SLACK_LINK = re.compile(r"<([^<>|\s]+)(?:\|([^<>]*))?>")
_MAX_MESSAGES = 50_000
_MAX_MESSAGE_CHARS = 20_000


class Message(NamedTuple):
    """What somebody said; `day` is ISO 8601, empty when unknown."""

    speaker: str
    text: str
    day: str = ""


class Conversation(NamedTuple):
    """The messages below one heading, and those that its program does not show, by their kind."""

    title: str
    messages: list[Message]
    hidden: Mapping[str, Sequence[str]] = MappingProxyType({})


class ChatExportParser:
    """Parses an export of chats; JSON of another shape is read as data."""

    def parse(self, data: bytes, path: str, companion: bytes = b"") -> ParsedDocument:
        """Return the document; each conversation or day is a section.

        `companion` is the list of people that Slack exports beside the folder of a channel.
        """
        content = load_json(decode(data).text)
        users = load_json(decode(companion).text) if companion else None
        conversations = list(read_conversations(content, path, users))
        if not any(said.text.strip() for one in conversations for said in one.messages):
            return DataParser("json").parse(data, path)
        builder = TextBuilder()
        left, cut = _MAX_MESSAGES, 0
        titles = []
        for conversation in conversations:
            messages = [one for one in conversation.messages[:left] if one.text.strip()]
            left -= len(messages)
            cut += sum(len(one.text) > _MAX_MESSAGE_CHARS for one in messages)
            if messages:
                titles.append(conversation.title)
                builder.add_heading(1, conversation.title)
            for message in messages:
                text = message.text[:_MAX_MESSAGE_CHARS].strip()
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
                builder.leave_out("ends of long messages", message.text[_MAX_MESSAGE_CHARS:])
            for reason, texts in conversation.hidden.items():
                builder.leave_out(reason, "\n".join(texts))
        warnings = [] if left else [f"only the first {_MAX_MESSAGES:,} messages are searched"]
        if cut:
            warnings.append(f"long messages are cut at {_MAX_MESSAGE_CHARS:,} characters: {cut}")
        file = PurePosixPath(path)
        several = f"{file.parent.name}/{file.name}".strip("/")
        title = titles[0] if len(titles) == 1 else several
        return builder.build(path, Metadata(title=title), warnings=warnings)


def read_conversations(content: object, path: str, users: object = None) -> Iterator[Conversation]:
    """Yield the conversations of an export; none when it is of no known shape.

    `users` is the list of people that an export of Slack has beside its channels.
    """
    entries = list_records(content)
    if entries and "mapping" in entries[0]:
        yield from map(_read_chatgpt, entries)
    elif entries and "chat_messages" in entries[0]:
        for one in entries:
            said = [part for it in list_records(one["chat_messages"]) for part in _list_parts(it)]
            thoughts = [text for part in said if (text := get_text(part, "thinking"))]
            chat = _name(one, "name", _read_claude(one))
            yield chat._replace(hidden={"thoughts of models": thoughts})
    elif entries and "ts" in entries[0]:
        file = PurePosixPath(path)
        title = f"{file.parent.name} {file.stem}".strip()
        people = _list_people(entries, users)
        shown = (one for one in entries if one.get("text") or one.get("files"))
        yield Conversation(title, [_read_slack(one, people) for one in shown])


def _name(entry: Mapping[str, Any], key: str, messages: Iterable[Message]) -> Conversation:
    said = [message for message in messages if message.text.strip()]
    day = said[0].day if said else ""
    title = get_text(entry, key) or "conversation"
    return Conversation(f"{title} ({day})" if day else title, said)


def _read_chatgpt(entry: Mapping[str, Any]) -> Conversation:
    """Return the messages of the branch that is shown, which is read from its end."""
    nodes = entry["mapping"] if isinstance(entry["mapping"], dict) else {}
    found: list[Message] = []
    hidden: list[str] = []
    number, seen = entry.get("current_node"), set()
    while isinstance(number, str) and number not in seen and isinstance(nodes.get(number), dict):
        seen.add(number)
        said = nodes[number].get("message")
        if isinstance(said, dict):
            role, metadata = get_text(said.get("author"), "role"), said.get("metadata")
            facts = metadata if isinstance(metadata, dict) else {}
            content = said.get("content")
            is_hidden = role == "system" or facts.get("is_visually_hidden_from_conversation")
            is_hidden = is_hidden or get_text(content, "content_type") == "thoughts"
            texts = [*_list_texts(content)]
            if is_hidden:
                hidden += texts
                texts = []
            texts += [get_text(one, "name") for one in list_records(facts.get("attachments"))]
            text = "\n\n".join(filter(None, texts))
            found.append(Message(role, text, _read_time(said.get("create_time"))))
        number = nodes[number].get("parent")
    others = list_records([node for one, node in nodes.items() if one not in seen])
    said_there = list_records([node.get("message") for node in others])
    branches = [text for one in said_there for text in _list_texts(one.get("content"))]
    shown = _name(entry, "title", reversed(found))
    return shown._replace(hidden={"hidden messages": hidden, "other branches of chats": branches})


def _list_texts(content: object) -> Iterator[str]:
    """Yield the texts of a message of ChatGPT: what was typed, spoken, run, or written beside."""
    if not isinstance(content, dict):
        return
    kind, text = get_text(content, "content_type"), get_text(content, "text")
    if kind in {"code", "execution_output"} and text:
        yield f"```{get_text(content, 'language')}\n{text}\n```"
    elif text:
        yield text
    for thought in list_records(content.get("thoughts")):
        yield f"{get_text(thought, 'summary')} {get_text(thought, 'content')}"
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, str):
            yield get_text(part, "text")
        elif part.startswith("{") and (written := get_text(load_json(part), "content")):
            yield written
        else:
            yield part


def _list_parts(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list_records(said.get("content"))


def _read_claude(entry: Mapping[str, Any]) -> Iterator[Message]:
    for said in list_records(entry["chat_messages"]):
        parts = _list_parts(said)
        texts = [get_text(said, "text") or "\n".join(get_text(part, "text") for part in parts)]
        # An artifact is what a tool wrote; an attachment has the text of a file.
        for part in parts:
            texts += [get_text(part.get("input"), key) for key in ("title", "content", "code")]
        for one in list_records(said.get("attachments")):
            texts += [get_text(one, "file_name"), get_text(one, "extracted_content")]
        texts += [get_text(one, "file_name") for one in list_records(said.get("files"))]
        text = "\n\n".join(filter(None, texts))
        yield Message(get_text(said, "sender"), text, get_text(said, "created_at")[:10])


def _read_slack(said: Mapping[str, Any], people: Mapping[str, str]) -> Message:
    profile = said.get("user_profile")
    names = (get_text(profile, "display_name"), get_text(profile, "real_name"))
    user = get_text(said, "user")
    speaker = next(filter(None, (*names, people.get(user, user))), "")
    text = _SLACK_LINK.sub(lambda link: _read_slack_link(link, people), get_text(said, "text"))
    files = (
        get_text(one, "title") or get_text(one, "name") for one in list_records(said.get("files"))
    )
    return Message(speaker, "\n\n".join(filter(None, (unescape(text), *files))))


def _list_people(entries: list[dict[str, Any]], users: object) -> dict[str, str]:
    """Return the names of people by their ids, from the list of users and from messages."""
    found = {}
    for one in list_records(users):
        profile = one.get("profile")
        names = (
            get_text(profile, "display_name"),
            get_text(one, "real_name"),
            get_text(one, "name"),
        )
        found[get_text(one, "id")] = next(filter(None, names), "")
    for one in entries:
        profile = one.get("user_profile")
        if name := get_text(profile, "display_name") or get_text(profile, "real_name"):
            found.setdefault(get_text(one, "user"), name)
    return {key: name for key, name in found.items() if key and name}


def _read_slack_link(link: re.Match[str], people: Mapping[str, str]) -> str:
    """Return what Slack shows for `<@U1>`, `<#C1|name>` and `<https://…|text>`."""
    target, label = link[1], link[2] or ""
    if target.startswith("@"):
        return f"@{label or people.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
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
        title, attributes = _read_text(note, "title"), find_child(note, "note-attributes")
        builder.add_heading(1, title or "(untitled)")
        warnings = [*_add_content(builder, note, title)]
        rest = list_children(attributes, "source-url", "place-name")
        builder.leave_out("fields of notes", " ".join(map(_join_text, rest)))
        author = _read_text(attributes, "author")
        metadata = Metadata(
            title or None,
            tags=list_unique(map(_join_text, list_children(note, "tag")))[:100],
            authors=(author,) if author else (),
            date=parse_date(_read_text(note, "created")),
        )
        return builder.build(path, metadata, warnings=warnings)


def _add_content(builder: TextBuilder, note: Element, title: str) -> Iterator[str]:
    """Add the text of a note and the names of its files; yield warnings."""
    try:
        add_fragment(builder, getattr(find_child(note, "content"), "text", None) or "", 1)
    except ValueError:
        yield f"a note is unreadable: {title}"
    attributes = (find_child(one, "resource-attributes") for one in list_children(note, "resource"))
    if files := [name for one in attributes if (name := _read_text(one, "file-name"))]:
        builder.add_paragraph("Attachments:")
        builder.add_list((0, name) for name in files)


def _read_text(element: Element | None, tag: str) -> str:
    child = find_child(element, tag)
    return "" if child is None else _join_text(child)


def _join_text(element: Element) -> str:
    return " ".join((element.text or "").split())
