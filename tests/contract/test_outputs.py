"""Every line that any command prints under `--json` is held to its published schema."""

from pathlib import Path

import pytest

from kebab.cli.reference import commands
from tests.contract.conftest import checked

DOC = "work/backups.md"
EVALS = Path(__file__).parents[1] / "cases" / "evals"
CASES = {
    "init": [["init"], ["init", "--force", "--workspace", "notes"]],
    "ingest": [
        ["ingest", "notes"],
        ["ingest", "--force"],
        ["ingest", "notes", "--dry-run"],
        ["ingest", "nowhere"],
        ["ingest", "--stdin", "--title", "T"],
    ],
    "search": [
        ["search", "restore"],
        ["search", "restore", "-n", "1", "--trace", "--mode", "lexical"],
        ["search", "qqqqqqqq", "--mode", "lexical"],
        ["search", "restore", "--mode", "vector"],
        ["search", ""],
        ["search", "x", "--since", "whenever"],
        ["search", "x", "--cursor", "forged"],
        ["search", "x", "-n", "many"],
    ],
    "ask": [
        ["ask", "how do I restore a backup", "--extractive"],
        ["ask", "qqqqqqqq", "--extractive", "--mode", "lexical"],
        ["ask", ""],
        ["ask", "x", "--extractive", "--since", "whenever"],
        ["ask", "x", "-n", "many"],
    ],
    "chat": [["chat"]],
    "list": [["list"], ["list", "-n", "2", "--offset", "1"], ["list", "--tag", "none"]],
    "inspect doc": [["inspect", "doc", DOC], ["inspect", "doc", "nowhere"]],
    "inspect chunk": [["inspect", "chunk", "CHUNK"], ["inspect", "chunk", "nowhere"]],
    "fetch chunk": [["fetch", "chunk", "CHUNK", "--context", "2"], ["fetch", "chunk", "nowhere"]],
    "fetch doc": [["fetch", "doc", DOC, "--max-chars", "20"], ["fetch", "doc", "nowhere"]],
    "fetch span": [["fetch", "span", DOC, "2", "4"], ["fetch", "span", "nowhere", "1"]],
    "related": [
        ["related", DOC],
        ["related", DOC, "--tag", "none"],
        ["related", "nowhere"],
        ["related", DOC, "--since", "whenever"],
        ["related", DOC, "-n", "many"],
    ],
    "why": [
        ["why", "restore", DOC],
        ["why", "restore -disk", DOC, "--tag", "none"],
        ["why", 'lang:en "restic check"', DOC, "--mode", "lexical", "--per-doc", "1"],
        ["why", "qqqqqqqq", DOC, "--mode", "lexical"],
        ["why", "restore", "CHUNK", "--mode", "vector"],
        ["why", "restore", "nowhere"],
        ["why", "", DOC],
        ["why", "restore", DOC, "--since", "whenever"],
        ["why", "restore", DOC, "-n", "many"],
    ],
    "dupes": [
        ["dupes"],
        ["dupes", "--exact", "-n", "1"],
        ["dupes", "--tag", "none"],
        ["dupes", "--cursor", "forged"],
        ["dupes", "--threshold", "many"],
        ["dupes", "--exact", "--threshold", "0.9"],
    ],
    "rm": [["rm", DOC], ["rm", "nowhere"]],
    "session list": [["session", "list"]],
    "session show": [["session", "show", "talk"], ["session", "show", "nowhere"]],
    "session rm": [
        ["session", "rm", "talk"],
        ["session", "rm", "talk", "nowhere"],
        ["session", "rm", "a\nb"],
        ["session", "rm", "--all", "--yes"],
        ["session", "rm", "--all"],
        ["session", "rm"],
    ],
    "reset": [["reset", "--yes"], ["reset"]],
    "doctor": [["doctor"]],
    "schema": [["schema"], ["schema", "--errors"]],
    "errors": [
        ["errors"],
        ["errors", "--since", "24h", "--by", "kind"],
        ["errors", "--id", "nowhere"],
        ["errors", "--since", "whenever"],
        ["errors", "--by", "luck"],
    ],
    "explain": [["explain", "locked"], ["explain", "nonsense"]],
    "model list": [["model", "list"]],
    "model pull": [["model", "pull", "nonsense"]],
    "model use": [["model", "use", "nonsense"]],
    "eval run": [
        ["eval", "run", f"{EVALS}/queries.jsonl"],
        ["eval", "run", f"{EVALS}/queries.jsonl", "--out", "report.json", "--by-doc"],
        ["eval", "run", f"{EVALS}/queries.jsonl", "--mode", "vector"],
        ["eval", "run", f"{EVALS}/queries.jsonl", "-n", "many"],
        ["eval", "run", "nowhere.jsonl"],
    ],
    "eval compare": [
        ["eval", "compare", f"{EVALS}/before.json", f"{EVALS}/after.json", "--metric", "hit@1"],
        ["eval", "compare", f"{EVALS}/before.json", f"{EVALS}/queries.jsonl"],
    ],
    "eval init": [["eval", "init"], ["eval", "init", "--count", "3", "--out", "no/where.jsonl"]],
    "bench": [["bench", "--chunks", "none"]],
}
EVERY = [(path, arguments) for path, cases in CASES.items() for arguments in cases]


def named(value):
    return " ".join(value) if isinstance(value, list) else value


def test_every_command_is_held_to_it():
    assert set(CASES) == {path for path, _ in commands()}


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("before", [True, False], ids=["flag first", "flag last"])
@pytest.mark.parametrize(("path", "arguments"), EVERY, ids=named)
def test_both_channels_keep_to_the_schemas(path, arguments, before, chunk, kebab):
    said = [chunk if word == "CHUNK" else word for word in arguments]

    ran = kebab(*(["--json", *said] if before else [*said, "--json"]), stdin=b"Some text.\n")

    results = checked(ran.out, status=ran.status, command=path)
    asides = checked(ran.err, status=ran.status, command=path)
    faults = [one for one in asides if one["schema_version"] == "error.v1"]
    assert len(results) + len(faults) == 1
    assert ran.status in ((0, 1, 3) if results else (2, 3))


@pytest.mark.parametrize(
    "arguments", [["search", "restore"], ["search", "x", "--cursor", "forged"]]
)
def test_frames_of_a_search_keep_to_the_schemas(arguments, home, kebab):
    ran = kebab(*arguments, "--stream")

    frames = checked(ran.out, status=ran.status, command="search")
    checked(ran.err, status=ran.status, command="search")
    assert [one["type"] for one in frames][-1] == "end"


def test_bulk_answers_keep_to_the_schemas_one_per_line(home, kebab):
    lines = (
        b'"restore"\n{"query": "garden", "limit": 1}\n\nnonsense\n{"query": "x", "lmit": 1}\n"" \n'
    )

    ran = kebab("search", "--bulk", "--mode", "lexical", stdin=lines)

    items = checked(ran.out, status=ran.status, command="search")
    assert [one["index"] for one in items] == [0, 1, 2, 3, 4]
    assert ["error" in one for one in items] == [False, False, True, True, True]
    assert len(items[1]["response"]["hits"]) == 1


def test_events_of_an_ingest_keep_to_the_schemas_and_end_once(home, kebab):
    ran = kebab("ingest", str(home / "notes"), "--force", "--stream")

    events = checked(ran.out, status=ran.status, command="ingest")
    ends = [one for one in events if one["kind"] in ("completed", "aborted")]
    assert ends == events[-1:]
    assert ends[0]["report"]["scanned"] == 7
    assert ran.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "x"],
        ["list"],
        ["inspect", "doc", "x"],
        ["fetch", "doc", "x"],
        ["related", "x"],
        ["dupes"],
        ["why", "x", "y"],
        ["rm", "x"],
        ["session", "list"],
        ["session", "show", "x"],
        ["session", "rm", "x"],
        ["session", "rm", "--all", "--yes"],
    ],
    ids=" ".join,
)
def test_without_a_knowledge_base_reading_says_not_indexed(arguments, empty, kebab):
    ran = kebab(*arguments, "--json")

    assert (ran.status, ran.out, ran.fault["code"]) == (3, "", "not_indexed")
    assert not (empty / "data").exists()


@pytest.mark.parametrize("arguments", [["schema"], ["doctor"], ["model", "list"]], ids=" ".join)
def test_without_a_knowledge_base_the_rest_still_works(arguments, empty, kebab):
    ran = kebab(*arguments, "--json")

    assert ran.reply["schema_version"] in ("schema.v1", "doctor.v1", "model_list.v1")
    assert not (empty / "data").exists()
