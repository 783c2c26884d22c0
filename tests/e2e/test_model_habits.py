"""Models as people run them: what they write beside an answer is never a part of it.

`tests/cases/models/habits.jsonl` has one situation in each line: the command, what the model says
to each request, and what must come out. Texts come from one of the two providers by turns, since
what reads them knows none; all else that a server sends comes from both, or from those that
`providers` names. A text of the model is streamed in small pieces. The word `ponder` stands for
what a model thinks, and may be in no result.
"""

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import lines
from tests.fakes import ollama, openai
from tests.fakes.openai import Answer

CASES = Path(__file__).parents[1] / "cases" / "models" / "habits.jsonl"
SITUATIONS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
QUESTION = "What is checked first when a restore fails?"
MODEL = "gemma3:4b"
DOCUMENTS = {
    "review": "# Doors\n\nThe doors was open yesterday.\n",
    "translate": "# Doors\n\nClose the valve before you leave the house.\n",
}
PIECE = 5
CALL = {"function": {"name": "search", "arguments": {}}}


def split(text):
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def play_raw(raw: Any):
    """Return a response that is written as it is sent."""
    body = raw["body"].encode("utf-8")
    body = gzip.compress(body) if "gzip" in raw else body
    return Answer(body=body, status=raw.get("status", 200), content_type=raw["type"])


def play_ollama(said: Any):
    if raw := said.get("any", said.get("ollama")):
        return play_raw(raw) if isinstance(raw, dict) else ollama.Fail(raw)
    message = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    call = json.dumps({"message": message, "done": False}).encode() + b"\n"
    return ollama.Say(
        *split(said["text"]),
        *[ollama.Raw(call)] * ("tool" in said),
        thinking=split(said.get("reasoning", "")),
        done_reason=said.get("finish", "stop"),
        prompt_tokens=said.get("prompt_tokens"),
    )


def play_openai(said: Any):
    if raw := said.get("any", said.get("openai")):
        return play_raw(raw) if isinstance(raw, dict) else openai.Fail(raw)
    call = json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]}).encode()
    return openai.Say(
        *split(said["text"]),
        *[openai.Raw(b"data: " + call + b"\n\n")] * ("tool" in said),
        reasoning=split(said.get("reasoning", "")),
        finish="tool_calls" if "tool" in said else said.get("finish", "stop"),
        prompt_tokens=said.get("prompt_tokens"),
    )


@pytest.fixture
def server(request, library):
    library.own_process = False
    if request.param == "ollama":
        with ollama.fake_ollama(MODEL) as made:
            library.environment["OLLAMA_HOST"] = made.url
            yield made, play_ollama
        return
    with openai.fake_openai(MODEL, "another", kind="vllm") as made:
        library.environment |= {
            "KEBAB_MODELS_LLM_PROVIDER": "openai",
            "KEBAB_MODELS_LLM_ENDPOINT": made.url,
        }
        yield made, play_openai


def run_ask(library, want):
    """Ask with a stream: what it shows at last is what the model answers."""
    events = lines(library("ask", QUESTION, "--limit", "1", "--stream", status=want["status"]).out)
    if "code" in want:
        assert events[-1]["error"]["code"] == want["code"]
        assert want.get("hint", "") in (events[-1]["error"]["hint"] or "")
        return
    restarts = [place for place, one in enumerate(events) if one["type"] == "restart"]
    assert len(restarts) == want.get("restarts", 0)
    shown = events[restarts[-1] :] if restarts else events
    tokens = "".join(one["delta"] for one in shown if one["type"] == "token")
    assert "ponder" not in tokens
    check_answer(events[-1]["answer"], want)


def check_answer(answer, want):
    assert answer["refusal_reason"] == want.get("refusal")
    if "answer" in want:
        assert answer["answer"] == want["answer"]
    else:
        assert answer["citations"] == []
    assert answer["answers_question"] == want.get("rating", answer["answers_question"])
    assert want.get("warning", "") in " ".join(one["message"] for one in answer["warnings"])
    assert "ponder" not in json.dumps(answer)


def run_chat(library, want):
    """Ask twice in a session; no turn keeps what the model thinks."""
    flags = ("--limit", "1", "--session", "s", "--json")
    library("ask", QUESTION, *flags)
    ran = library("ask", "And what is checked first?", *flags, status=want["status"])
    if "code" in want:
        assert ran.error["code"] == want["code"]
        return
    check_answer(ran.reply, want)
    assert "ponder" not in json.dumps(library.json("session", "show", "s"))


def run_review(library, want):
    ran = library("review", "a.md", "--model", MODEL, "--json", status=want["status"])
    if "code" in want:
        assert ran.error["code"] == want["code"]
        return
    assert "ponder" not in json.dumps(ran.reply)
    kind = want.get("kind", "grammar")
    fixes = [item["fix"]["text"] for item in ran.reply["items"] if item["k"] == kind]
    assert (fixes, ran.reply["unanswered_count"]) == (want["fixes"], want.get("unanswered", 0))


def run_translate(library, want):
    flags = ["--json"] * ("code" in want)
    ran = library("translate", "a.md", "--to", "ko", *flags, status=want["status"])
    if "code" in want:
        assert ran.error["code"] == want["code"]
        return
    assert ran.out.decode().split("\n\n") == [*want["texts"][:1], want["texts"][1] + "\n"]
    assert ran.err.decode().count("the source text stays") == want.get("left", 0)


RUN = {"ask": run_ask, "chat": run_chat, "review": run_review, "translate": run_translate}


PROVIDERS = ["ollama", "openai"]


def list_situations():
    """Yield each situation with each provider that it is to be tried with."""
    turns = itertools.cycle(PROVIDERS)
    for one in SITUATIONS:
        is_text = all(isinstance(said, str) for said in one["says"])
        for provider in one.get("providers", [next(turns)] if is_text else PROVIDERS):
            name = f"{provider} {one['command']} {one['name']}".replace(",", "")
            yield pytest.param(provider, one, id=name)


@pytest.mark.parametrize(("server", "situation"), [*list_situations()], indirect=["server"])
def test_a_habit_of_a_model_changes_no_result(situation, server, library):
    made, play = server
    says = [{"text": said} if isinstance(said, str) else said for said in situation["says"]]
    made.enqueue(*map(play, says))
    if "models" in situation:
        made.models, made.kind = tuple(situation["models"]), "lmstudio"
    command = situation["command"]
    if command in DOCUMENTS:
        (library.folder / "a.md").write_text(DOCUMENTS[command], encoding="utf-8")

    RUN[command](library, situation["want"])

    assert made.unplayed == 0
