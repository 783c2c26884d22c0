"""Reads exports of chats in JSON: ChatGPT, Claude, Slack and Telegram."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from kebab.core.documents import BlockKind, Metadata, ParsedDocument
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.text.data import DataParser, get_text, list_records, load_json
from kebab.parse.text.markdown import MarkdownParser

_MAX_MESSAGES = 50_000
_MAX_MESSAGE_CHARS = 20_000


class Message(NamedTuple):
    """What somebody said; `day` is ISO 8601, empty when unknown."""

    speaker: str
    text: str
    day: str = ""


class Conversation(NamedTuple):
    """The messages below one heading."""

    title: str
    messages: list[Message]


class ChatExportParser:
    """Parses an export of chats; JSON of another shape is read as data."""

    version = "chat-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; each conversation or day is a section."""
        content = load_json(decode(data, path, self.version).text)
        conversations = list(read_conversations(content, path))
        if not any(said.text.strip() for one in conversations for said in one.messages):
            return DataParser("json").parse(data, path)
        return _build_document(conversations, path)


def read_conversations(content: object, path: str) -> Iterator[Conversation]:
    """Yield the conversations of an export; none when it is of no known shape."""
    entries = list_records(content)
    if entries and "mapping" in entries[0]:
        yield from (_name(one, "title", _read_chatgpt(one)) for one in entries)
    elif entries and "chat_messages" in entries[0]:
        yield from (_name(one, "name", _read_claude(one)) for one in entries)
    elif entries and "ts" in entries[0]:
        file = PurePosixPath(path)
        title = f"{file.parent.name} {file.stem}".strip()
        yield Conversation(title, [_read_slack(one) for one in entries if one.get("text")])
    elif isinstance(content, dict):
        chats = content.get("chats")
        listed = list_records(chats.get("list")) if isinstance(chats, dict) else [content]
        for chat in listed:
            messages = [_read_telegram(one) for one in list_records(chat.get("messages"))]
            for day, said in groupby(messages, key=lambda message: message.day):
                yield Conversation(f"{get_text(chat, 'name')} {day}".strip(), list(said))


def _name(entry: Mapping[str, Any], key: str, messages: Iterable[Message]) -> Conversation:
    said = [message for message in messages if message.text.strip()]
    day = said[0].day if said else ""
    title = get_text(entry, key) or "conversation"
    return Conversation(f"{title} ({day})" if day else title, said)


def _read_chatgpt(entry: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the messages of the branch that is shown, from its end to its begin reversed."""
    nodes = entry["mapping"] if isinstance(entry["mapping"], dict) else {}
    found: list[Message] = []
    number, seen = entry.get("current_node"), set()
    while isinstance(number, str) and number not in seen and isinstance(nodes.get(number), dict):
        seen.add(number)
        said = nodes[number].get("message")
        if isinstance(said, dict):
            role, content = get_text(said.get("author"), "role"), said.get("content")
            parts = content.get("parts") if isinstance(content, dict) else None
            parts = parts if isinstance(parts, list) and role != "system" else []
            text = "\n".join(part for part in parts if isinstance(part, str))
            found.append(Message(role, text, _read_time(said.get("create_time"))))
        number = nodes[number].get("parent")
    yield from reversed(found)


def _read_claude(entry: Mapping[str, Any]) -> Iterator[Message]:
    for said in list_records(entry["chat_messages"]):
        parts = [get_text(part, "text") for part in list_records(said.get("content"))]
        text = get_text(said, "text") or "\n".join(parts)
        yield Message(get_text(said, "sender"), text, get_text(said, "created_at")[:10])


def _read_slack(said: Mapping[str, Any]) -> Message:
    profile = said.get("user_profile")
    names = (get_text(profile, "display_name"), get_text(profile, "real_name"))
    speaker = next(filter(None, (*names, get_text(said, "user"))), "")
    return Message(speaker, get_text(said, "text"))


def _read_telegram(said: Mapping[str, Any]) -> Message:
    text = said.get("text")
    parts = text if isinstance(text, list) else [text]
    joined = "".join(part if isinstance(part, str) else get_text(part, "text") for part in parts)
    return Message(get_text(said, "from"), joined, get_text(said, "date")[:10])


def _read_time(seconds: object) -> str:
    """Return the day of a time in seconds since the epoch, else an empty string."""
    if not isinstance(seconds, int | float):
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _build_document(conversations: Iterable[Conversation], path: str) -> ParsedDocument:
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
            _add_message(builder, message)
    warnings = [] if left else [f"only the first {_MAX_MESSAGES:,} messages are searched"]
    if cut:
        warnings.append(f"long messages are cut at {_MAX_MESSAGE_CHARS:,} characters: {cut}")
    file = PurePosixPath(path)
    several = f"{file.parent.name}/{file.name}".strip("/")
    title = titles[0] if len(titles) == 1 else several
    return builder.build(path, Metadata(title=title), warnings=warnings)


def _add_message(builder: TextBuilder, message: Message) -> None:
    """Add a message with its speaker; its headings are paragraphs, as they head no conversation."""
    text = message.text[:_MAX_MESSAGE_CHARS].strip()
    gap = " " if text[:1].isalnum() else "\n\n"
    source = f"**{message.speaker or 'unknown'}:**{gap}{text}"
    document = MarkdownParser().parse(source.encode("utf-8", "replace"), "message")
    blocks = (
        block._replace(kind=BlockKind.PARAGRAPH, level=0, label="")
        if block.kind is BlockKind.HEADING
        else block
        for block in document.blocks
    )
    builder.add_blocks(document._replace(blocks=tuple(blocks)))
