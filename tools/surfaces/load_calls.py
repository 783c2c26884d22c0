"""Contains the calls of the mixed load, each with what its answer must hold."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tools.surfaces.clients import Node, Result, Surface
from tools.surfaces.edits import Edit, find_faults, find_old_faults
from tools.surfaces.mcp_client import McpClient

QUESTIONS = (
    "how do I restore a backup",
    "백업은 어떻게 복원하나요",
    "sourdough starter",
    "what happened in the incident",
    "restic check",
    "tomatoes in the garden",
)
_MOST_TURNS = 8
"""A session is deleted after so many turns, so that what is stored does not grow by itself."""

Ask = Callable[[str, Mapping[str, Any]], Node]
"""Sends the fields of a request to a surface; an operation that the surface lacks raises."""
IsLast = Callable[[Edit], bool]


class Call(NamedTuple):
    """A call of the load: its name, how often it comes, what it does, and what it needs.

    `run` sends the requests and yields what is wrong with their answers.
    """

    name: str
    share: int
    run: Callable[[Ask, random.Random, Edit, str], Iterator[str]]
    tools: bool = False
    """Whether a tool of MCP does the same."""


def _search_word(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, surface
    yield from find_faults(ask("search", {"query": edit.word, "detail": "ids"}), edit)


def _search_words_only(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, surface
    fields = {"query": edit.word, "mode": "lexical", "detail": "passages"}
    yield from find_faults(ask("search", fields), edit)


def _search_old_word(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, surface
    if edit.old:
        yield from find_old_faults(ask("search", {"query": edit.old, "detail": "ids"}), edit)


def _search_question(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del edit, surface
    if ask("search", {"query": chance.choice(QUESTIONS), "detail": "ids"}).get("code"):
        yield "a question has no answer"


def _grep_word(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, surface
    files = ask("grep", {"pattern": edit.word, "fixed": True})["files"]
    paths = [*files] if isinstance(files, dict) else [one["doc_path"] for one in files]
    if len(paths) != 1 or not paths[0].endswith(edit.path):
        yield f"{edit.path} has {edit.word}, and grep finds {paths}"


def _fetch_note(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, surface
    if edit.word not in json.dumps(reply := ask("fetch", {"refs": [edit.path]})):
        yield f"{edit.path} has {edit.word}, and its text is {reply}"


def _read_note(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, surface
    if ask("fetch", {"refs": [edit.path]}).get("missing"):
        yield f"{edit.path} cannot be read"


def _ask_in_session(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    """Add a turn to the session of the surface, and delete it when it is long."""
    del edit
    session = f"load-{surface}"
    question = {"question": chance.choice(QUESTIONS), "extractive": True, "session": session}
    answer = ask("ask", question)
    if answer["turn_index"] + 1 < _MOST_TURNS:
        return
    turns = ask("session_show", {"name": session})["turns"]
    if len(turns) != _MOST_TURNS:
        yield f"{session} has {len(turns)} turns"
    ask("session_rm", {"names": [session]})


def _review_notes(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    """Review a note by rules, read the run again, and delete it."""
    del chance, surface
    page = ask("review", {"names": [edit.path], "no_llm": True})
    again = ask("review", {"run_id": page["run_id"], "no_llm": True})
    if [one["uid"] for one in page["items"]] != [one["uid"] for one in again["items"]]:
        yield f"two pages of {edit.path}: {page['items']} and {again['items']}"
    ask("review_rm", {"runs": [page["run_id"]]})


def _outline(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, edit, surface
    if not ask("outline", {})["documents"]:
        yield "there is nothing to outline"


def _list_documents(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, surface
    listed = [one["doc_path"] for one in ask("list", {"limit": 1000})["documents"]]
    if listed.count(edit.path) != 1:
        yield f"{edit.path} is listed {listed.count(edit.path)} times"


def _check_health(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    del chance, edit, surface
    report = ask("doctor", {})
    if failed := [one for one in report["checks"] if one["status"] == "fail"]:
        yield f"doctor: {failed}"


def _call_in_vain(ask: Ask, chance: random.Random, edit: Edit, surface: str) -> Iterator[str]:
    """Send a request that fails, which goes into the log."""
    del edit
    reply = ask("search", {"query": chance.choice(QUESTIONS), "cursor": "no cursor"})
    if reply.get("code") != "invalid_cursor":
        yield f"{surface}: a wrong cursor gives {reply}"


CALLS = (
    Call("search", 6, _search_question, tools=True),
    Call("search", 4, _search_word, tools=True),
    Call("search", 3, _search_old_word, tools=True),
    Call("words", 2, _search_words_only),
    Call("grep", 2, _grep_word, tools=True),
    Call("fetch", 2, _fetch_note),
    Call("read", 1, _read_note, tools=True),
    Call("ask", 2, _ask_in_session),
    Call("review", 1, _review_notes),
    Call("outline", 1, _outline, tools=True),
    Call("list", 1, _list_documents),
    Call("doctor", 1, _check_health),
    Call("error", 1, _call_in_vain, tools=True),
)


def choose_call(chance: random.Random, *, tools: bool) -> Call:
    """Return a call; with `tools` one that MCP has too."""
    calls = [one for one in CALLS if one.tools or not tools]
    return chance.choices(calls, [one.share for one in calls])[0]


def ask_surface(surface: Surface, operation: str, fields: Mapping[str, Any]) -> Node:
    """Return the answer of the command line or of HTTP."""
    return surface.ask(operation, json.dumps(dict(fields)).encode()).reply


def ask_tool(client: McpClient, operation: str, fields: Mapping[str, Any]) -> Node:
    """Return the answer of a tool, with hits as other surfaces have them.

    Raises:
        RuntimeError: The call failed for another reason than a wrong cursor.
    """
    given = {name: value for name, value in fields.items() if name != "query"}
    if operation == "search":
        given["queries"] = fields["query"]
    result: Result = client.call("read" if operation == "fetch" else operation, given)
    if result.failed and "cursor" not in fields:
        raise RuntimeError(result.reply)
    hits = [{"doc_path": hit["ref"].partition("#")[0]} for hit in result.reply.get("hits", [])]
    return {**result.reply, "hits": hits}
