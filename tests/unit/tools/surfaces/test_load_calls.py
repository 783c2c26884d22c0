"""Each call of the load is satisfied by right answers, and names wrong ones."""

import random

import pytest

from tools.surfaces.edits import Edit
from tools.surfaces.load_calls import CALLS, ask_tool, choose_call

EDIT = Edit("edited/note.md", "newword", "oldword", 0.0)
HIT = {"doc_path": EDIT.path}
RIGHT = {
    "search": {"hits": [HIT], "absent_terms": ["oldword"], "code": "invalid_cursor"},
    "grep": {"files": [HIT]},
    "fetch": {"text": "newword", "missing": 0},
    "ask": {"turn_index": 7},
    "session_show": {"turns": [{}] * 8},
    "session_rm": {},
    "review": {"run_id": "r", "items": []},
    "review_rm": {},
    "outline": {"documents": 3},
    "list": {"documents": [HIT]},
    "doctor": {"checks": [{"status": "ok"}]},
}
WRONG = {
    "search": {"hits": [], "absent_terms": ["other"]},
    "grep": {"files": {}},
    "fetch": {"missing": 1},
    "ask": {"turn_index": 7},
    "session_show": {"turns": []},
    "session_rm": {},
    "outline": {"documents": 0},
    "list": {"documents": [HIT, HIT]},
    "doctor": {"checks": [{"status": "fail"}]},
}


def run_call(call, replies, asked=None):
    def ask(operation, fields):
        if asked is not None:
            asked.append(operation)
        reply = dict(replies[operation])
        if "code" in reply and "cursor" not in fields:
            del reply["code"]
        return reply

    return [*call.run(ask, random.Random(1), EDIT, "http")]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.run.__name__)
def test_right_answers_are_no_faults(call):
    assert run_call(call, RIGHT) == []


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.run.__name__)
def test_wrong_answers_are_faults(call):
    pages = iter([{"uid": "1"}, {"uid": "2"}])
    if call.name == "review":
        faults = [
            *call.run(
                lambda *_: {"run_id": "r", "items": [next(pages, {})]}, random.Random(1), EDIT, ""
            )
        ]
    elif call.run.__name__ == "_search_question":
        faults = run_call(call, {"search": {"code": "io_error"}})
        faults = faults or [*call.run(lambda *_: {"code": "x"}, random.Random(1), EDIT, "")]
    else:
        faults = run_call(call, WRONG)

    assert faults


def test_a_long_session_is_deleted():
    (call,) = (one for one in CALLS if one.name == "ask")
    asked: list[str] = []
    run_call(call, RIGHT, asked)

    assert asked == ["ask", "session_show", "session_rm"]


def test_only_tools_are_chosen_for_a_client_of_tools():
    chance = random.Random(1)

    assert all(choose_call(chance, tools=True).tools for _ in range(100))
    assert {choose_call(chance, tools=False).name for _ in range(300)} == {
        call.name for call in CALLS
    }


@pytest.mark.parametrize("failed", [True, False])
def test_the_paths_of_the_tool_are_those_of_other_surfaces(failed):
    class Client:
        def call(self, tool, arguments):
            assert (tool, arguments) == ("search", {"queries": "x"})
            reply = {"hits": [{"ref": "a/b.md#L2-L3"}]}
            return type("Result", (), {"failed": failed, "reply": reply})

    if failed:
        with pytest.raises(RuntimeError):
            ask_tool(Client(), "search", {"query": "x"})  # type: ignore[arg-type]  # a double
    else:
        found = ask_tool(Client(), "search", {"query": "x"})  # type: ignore[arg-type]  # a double
        assert found["hits"] == [{"doc_path": "a/b.md"}]
