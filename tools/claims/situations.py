"""Contains the situations: what happens to the notes, what is asked, and what is true then.

A situation is a function that acts on a `Stage` and keeps statements by `Stage.judge`. The truth
comes from the corpus and from what the situation did, never from kebab.
"""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tools.claims.stage import Reply, Stage, run_broken_server
from tools.home import run_server

_MOST_BYTES = 40_000
_ANSWERED = 3
"""How many questions of each kind a situation asks."""

Situation = Callable[[Stage], None]


def _judge_absence(stage: Stage, reply: Reply, word: str, *, true: bool) -> None:
    """Judge whether a reply states that a word is absent, in words and by its exit status."""
    stage.judge(f"absent: {word}", made=reply.states_absence(word), true=true)
    if not true:
        stage.judge(
            f"complete, though {word} is not read",
            made=bool(reply.coverage.get("complete", True)),
            true=False,
        )


def _judge_found(stage: Stage, word: str, path: str, *arguments: str) -> None:
    """Judge whether a search finds the document that has a word."""
    reply = stage.call("search", word, *arguments)
    found = [hit["doc_path"] for hit in reply.data.get("hits", [])]
    stage.judge(f"found: {word}", made=path in found, true=True)
    stage.judge(f"absent: {word}", made=reply.states_absence(word), true=False)


def search_a_complete_index(stage: Stage) -> None:
    """Everything is read: absence is stated, presence is found."""
    stage.ingest()
    word = stage.corpus.make_absent_word(stage.dice)
    reply = stage.call("search", word)
    _judge_absence(stage, reply, word, true=True)
    has_vectors = not reply.coverage.get("pending_vectors")
    stage.judge("complete", made=bool(reply.coverage.get("complete")), true=has_vectors)
    stage.judge(f"convincing: {word}", made=bool(reply.data["convincing"]), true=False)
    _judge_absence(stage, stage.call("grep", word), word, true=True)
    path = stage.dice.choice(stage.corpus.list_paths())
    _judge_found(stage, stage.corpus.unique[path], path)
    stage.judge("healthy", made=_says_healthy(stage.call("doctor")), true=True)


def _says_healthy(reply: Reply) -> bool:
    return "\nhealthy" in reply.text


def search_after_a_killed_ingest(stage: Stage) -> None:
    """The first ingest was killed between two files."""
    stage.kill_ingest("asset_finished")
    _judge_unread(stage)


def search_beside_a_running_ingest(stage: Stage) -> None:
    """The first ingest runs and has not read everything."""
    with stage.stop_ingest("asset_finished"):
        _judge_unread(stage, indexing=True)


def search_after_a_kill_in_the_scan(stage: Stage) -> None:
    """A later ingest of a larger folder was killed before it read a new file."""
    stage.ingest()
    word = stage.corpus.make_absent_word(stage.dice)
    _write_note(stage.notes / "added" / "later.md", word)
    stage.kill_ingest("scan_started")
    if "added/later.md" not in stage.list_indexed():
        _judge_absence(stage, stage.call("search", word), word, true=False)


def _judge_unread(stage: Stage, *, indexing: bool = False) -> None:
    read = stage.list_indexed()
    paths = stage.corpus.list_paths()
    unread = [path for path in paths if path not in read]
    if not unread:
        return
    word = stage.corpus.unique[unread[-1]]
    for command in ("search", "grep"):
        reply = stage.call(command, word)
        if reply.data.get("code") == "not_indexed":
            continue
        _judge_absence(stage, reply, word, true=False)
        if indexing:
            said = reply.coverage.get("indexing") is not None
            stage.judge(f"{command}: an ingest is running", made=said, true=True)
        else:
            counted = reply.coverage.get("unread", 0)
            files = sum(path.is_file() for path in stage.notes.rglob("*"))
            stage.judge(
                f"{command}: {len(unread)} to {files - len(read)} files are unread, not {counted}",
                made=not len(unread) <= counted <= files - len(read),
                true=False,
            )
    if read and not indexing:
        stage.judge("healthy", made=_says_healthy(stage.call("doctor")), true=False)
    if read and indexing:
        path = min(read & set(paths))
        _judge_found(stage, stage.corpus.unique[path], path)


def _write_note(path: Path, word: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Addition\n\nThis note is about {word} only.\n", encoding="utf-8")


def search_with_a_new_file(stage: Stage) -> None:
    """A file was added after the last ingest."""
    stage.ingest()
    word = stage.corpus.make_absent_word(stage.dice)
    folder = stage.dice.choice(["", "deep/er", "part1"])
    _write_note(stage.notes / folder / "added.md", word)
    for command in ("search", "grep"):
        reply = stage.call(command, word)
        _judge_absence(stage, reply, word, true=False)
        stage.judge(f"{command}: 1 new file", made=reply.coverage.get("new") == 1, true=True)
    refreshed = stage.call("search", word, "--in", str(stage.notes))
    stage.judge("found with --in", made=bool(refreshed.data["hits"]), true=True)


def ask_the_servers(stage: Stage) -> None:
    """HTTP and MCP say of a new file what the command line says."""
    stage.ingest()
    word = stage.corpus.make_absent_word(stage.dice)
    _write_note(stage.notes / "added.md", word)
    with run_server(stage.environment, stage.folder) as http:
        replies = {"HTTP": http.post("/v1/search", json={"queries": [word]}).json()}
        replies["MCP"] = _call_tool(http, "search", {"queries": [word]})
        replies["MCP status"] = _call_tool(http, "status", {})
    for surface, reply in replies.items():
        coverage = reply.get("coverage") or {}
        stage.judge(f"{surface}: complete", made=coverage.get("complete", True), true=False)
        stage.judge(f"{surface}: 1 new file", made=coverage.get("new") == 1, true=True)


def _call_tool(http: httpx.Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the structured result of a tool of MCP."""
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accepted = {"Accept": "application/json, text/event-stream"}
    reply: dict[str, Any] = http.post("/mcp", json=message, headers=accepted).json()
    structured: dict[str, Any] = reply["result"]["structuredContent"]
    return structured


def search_with_a_changed_file(stage: Stage) -> None:
    """A word was written into a file in place after the last ingest."""
    stage.ingest()
    path = stage.dice.choice(stage.corpus.list_paths())
    word = stage.corpus.make_absent_word(stage.dice)
    with (stage.notes / path).open("a", encoding="utf-8") as file:
        file.write(f"\n{word}\n")
    reply = stage.call("search", word)
    _judge_absence(stage, reply, word, true=False)
    stage.judge("1 changed file", made=reply.coverage.get("changed") == 1, true=True)


def search_with_a_removed_file(stage: Stage) -> None:
    """A file was deleted after the last ingest."""
    stage.ingest()
    path = stage.dice.choice(stage.corpus.list_paths())
    (stage.notes / path).unlink()
    reply = stage.call("search", stage.corpus.unique[path])
    stage.judge("1 file is gone", made=reply.coverage.get("gone") == 1, true=True)
    fresh = [hit for hit in reply.data["hits"] if hit["doc_path"] == path]
    stage.judge("fresh", made=any(hit["freshness"] == "fresh" for hit in fresh), true=False)


def search_with_an_ignored_file(stage: Stage) -> None:
    """A file was added that no ingest reads: the statement stays true, and is made."""
    (stage.notes / ".gitignore").write_text("*.secret\n", encoding="utf-8")
    stage.ingest()
    word = stage.corpus.make_absent_word(stage.dice)
    (stage.notes / "draft.secret").write_text(word, encoding="utf-8")
    (stage.notes / "photo.xyz").write_bytes(bytes(range(256)))
    reply = stage.call("search", word)
    _judge_absence(stage, reply, word, true=True)


def search_with_a_touched_file(stage: Stage) -> None:
    """A file has another time, but the same content: the statement stays true, and is made."""
    stage.ingest()
    path = stage.notes / stage.dice.choice(stage.corpus.list_paths())
    os.utime(path)
    word = stage.corpus.make_absent_word(stage.dice)
    _judge_absence(stage, stage.call("search", word), word, true=True)


def search_with_an_unreadable_file(stage: Stage) -> None:
    """A document is damaged, so nothing is known of its content."""
    word = stage.corpus.make_absent_word(stage.dice)
    with zipfile.ZipFile(stage.notes / "damaged.docx", "w") as archive:
        archive.writestr("word/document.xml", f"<w:document>{word}")
    stage.ingest()
    reply = stage.call("search", word)
    _judge_absence(stage, reply, word, true=False)
    stage.judge("1 file was not read", made=reply.coverage.get("failed") == 1, true=True)
    path = stage.dice.choice(stage.corpus.list_paths())
    _judge_found(stage, stage.corpus.unique[path], path)


def search_with_a_cut_file(stage: Stage) -> None:
    """Only the beginning of a large file is searched; the word stands behind it."""
    word = stage.corpus.make_absent_word(stage.dice)
    text = "lorem ipsum\n" * (2 * _MOST_BYTES // 12) + word
    (stage.notes / "large.txt").write_text(text, encoding="utf-8")
    limit = {"KEBAB_INGEST_MAX_FILE_BYTES": str(_MOST_BYTES)}
    stage.run("ingest", str(stage.notes), env=limit)
    reply = stage.call("search", word, env=limit)
    if reply.data["hits"] and word in json.dumps(reply.data["hits"]):
        return  # it was read to its end
    _judge_absence(stage, reply, word, true=False)
    stage.judge("1 partial document", made=reply.coverage.get("partial") == 1, true=True)


def cut_several_queries(stage: Stage) -> None:
    """A budget leaves out hits of queries that have some."""
    stage.ingest()
    paths = stage.dice.sample(stage.corpus.list_paths(), 3)
    queries = [part for path in paths for part in ("-q", stage.corpus.unique[path])]
    for cut in (("-n", "1"), ("--max-tokens", "60"), ("-n", "2", "--max-tokens", "30")):
        reply = stage.run("search", *queries, *cut, "--format", "compact")
        stage.judge(
            f"nothing convincing ({' '.join(cut)})",
            made="nothing convincing" in reply.stdout,
            true=False,
        )


def cite_lines(stage: Stage) -> None:
    """The text of a hit is the text of its cited lines, without its context."""
    stage.ingest()
    for path in stage.dice.sample(stage.corpus.list_paths(), 3):
        reply = stage.call("search", stage.corpus.unique[path], "--detail", "passages")
        for hit in reply.data["hits"]:
            place = hit["citation"].get("line") or hit["citation"].get("code")
            if place is None:
                continue
            text = (stage.notes / hit["doc_path"]).read_text("utf-8")
            lines = text.splitlines()[place["start"] - 1 : place["end"]]
            cited = "\n".join(lines)
            stage.judge(
                f"{hit['citation']['uri']} is quoted",
                made=hit["text"].strip() not in cited,
                true=False,
            )


def ask_for_facts(stage: Stage) -> None:
    """Questions of one kind are asked, some of which the notes answer."""
    stage.ingest()
    for answerable in (True, False):
        asked = [one for one in stage.corpus.questions if one.answerable is answerable]
        for question in stage.dice.sample(asked, _ANSWERED):
            reply = stage.call("ask", "--extractive", question.text).data
            likely = reply["grounded"] and reply.get("answers_question") == "likely"
            stage.judge(f"answered: {question.text}", made=likely, true=question.answerable)


def ask_about_an_unknown_name(stage: Stage) -> None:
    """The question names something that the notes do not know."""
    stage.ingest()
    question = stage.dice.choice(stage.corpus.questions)
    name = next(name for name in stage.corpus.unique.values() if name in question.text)
    text = question.text.replace(name, stage.corpus.make_absent_word(stage.dice))
    reply = stage.call("ask", "--extractive", text).data
    likely = reply["grounded"] and reply.get("answers_question") == "likely"
    stage.judge(f"answered: {text}", made=likely, true=False)


def review_with_a_broken_server(stage: Stage) -> None:
    """The model server is asked for by name, and fails in some way."""
    status, body = stage.dice.choice([(500, b"oops"), (404, b"{}"), (200, b"lorem ipsum")])
    path = stage.notes / stage.corpus.list_paths()[0]
    with run_broken_server(status, body) as endpoint:
        env = {
            "KEBAB_MODELS_LLM_PROVIDER": "openai",
            "KEBAB_MODELS_LLM_ENDPOINT": f"{endpoint}/v1",
        }
        done = stage.run("review", str(path), "--model", "nosuch", env=env)
    clean = done.returncode == 0 or "no findings" in done.stdout
    clean = clean and "without text for the model" not in done.stdout + done.stderr
    stage.judge(f"reviewed by a model that answers {status}", made=clean, true=False)


def ask_a_broken_server(stage: Stage) -> None:
    """The model server answers every request with HTTP 500, or is not there."""
    stage.ingest()
    question = stage.dice.choice([one.text for one in stage.corpus.questions if one.answerable])
    with run_broken_server(500, b"oops") as endpoint:
        failed = stage.call("ask", question, env=_name_server(endpoint))
    stage.judge(
        "a server that answers is unreachable",
        made=failed.data.get("code") == "model_unreachable",
        true=False,
    )
    refused = stage.call("ask", question, env=_name_server(endpoint))
    stage.judge(
        "a server that refuses is unreachable",
        made=refused.data.get("code") == "model_unreachable",
        true=True,
    )
    for reply in (failed, refused):
        stage.judge("the question was answered", made=reply.status == 0, true=False)


def _name_server(endpoint: str) -> dict[str, str]:
    return {
        "KEBAB_MODELS_LLM_PROVIDER": "ollama",
        "KEBAB_MODELS_LLM_ENDPOINT": endpoint,
        "KEBAB_MODELS_LLM_MODEL": "tiny",
    }


def filter_everything_away(stage: Stage) -> None:
    """A filter that matches no document is no absence of the word."""
    stage.ingest()
    word = stage.corpus.unique[stage.dice.choice(stage.corpus.list_paths())]
    reply = stage.call("search", word, "--path", "nowhere/**")
    stage.judge(f"absent: {word}", made="not in your notes" in reply.text, true=False)
    stage.judge("the filter matches nothing", made=bool(reply.data["unmatched_filters"]), true=True)


def fetch_a_changed_file(stage: Stage) -> None:
    """The lines of a file moved after the last ingest."""
    stage.ingest()
    path = stage.dice.choice(stage.corpus.list_paths())
    file = stage.notes / path
    file.write_text("inserted\n\n" + file.read_text("utf-8"), encoding="utf-8")
    reply = stage.call("fetch", f"{path}#L1-L2")
    stage.judge(
        "the lines are those that were indexed, without a word on the change",
        made="changed" not in reply.text,
        true=False,
    )


def damage_the_database(stage: Stage) -> None:
    """The database was cut in the middle."""
    stage.ingest()
    database = stage.folder / "data" / "kebab.sqlite"
    with database.open("r+b") as file:
        file.truncate(database.stat().st_size // 3)
    for name in ("kebab.sqlite-wal", "kebab.sqlite-shm"):
        (database.parent / name).unlink(missing_ok=True)
    word = stage.corpus.make_absent_word(stage.dice)
    reply = stage.call("search", word)
    _judge_absence(stage, reply, word, true=False) if "hits" in reply.data else None
    stage.judge("healthy", made=_says_healthy(stage.call("doctor")), true=False)


SITUATIONS: tuple[Situation, ...] = (
    search_a_complete_index,
    search_after_a_killed_ingest,
    search_beside_a_running_ingest,
    search_after_a_kill_in_the_scan,
    search_with_a_new_file,
    ask_the_servers,
    search_with_a_changed_file,
    search_with_a_removed_file,
    search_with_an_ignored_file,
    search_with_a_touched_file,
    search_with_an_unreadable_file,
    search_with_a_cut_file,
    cut_several_queries,
    cite_lines,
    ask_for_facts,
    ask_about_an_unknown_name,
    review_with_a_broken_server,
    ask_a_broken_server,
    filter_everything_away,
    fetch_a_changed_file,
    damage_the_database,
)
NEEDS_QUESTIONS = frozenset((ask_for_facts, ask_about_an_unknown_name, ask_a_broken_server))
"""Situations for generated corpora only."""
