"""Every line that any command prints under `--json` is held to its published schema."""

from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest

from kebab.cli.command_list import iterate_commands
from kebab.wire.operations import OPERATIONS
from tests.contract.conftest import check_channel
from tests.examples import list_example_lines

DOC = "work/backups.md"
EVALS = Path(__file__).parents[1] / "cases" / "evals"
CASES: dict[str, list[tuple[list[str], int, object]]] = {
    "init": [
        (["init"], 0, "init_report.v1"),
        (["init", "--force", "--workspace", "notes"], 0, "init_report.v1"),
    ],
    "ingest": [
        (["ingest", "notes"], 0, "ingest_report.v1"),
        (["ingest", "--force"], 0, "ingest_report.v1"),
        (["ingest", "notes", "--dry-run"], 0, "ingest_report.v1"),
        (["ingest", "--explain", "notes", "nowhere"], 1, "path_explanations.v1"),
        (["ingest", "--explain"], 2, "usage_invalid"),
        (["ingest", "nowhere"], 2, "io_error"),
        (["ingest", "--stdin", "--title", "T"], 0, "ingest_report.v1"),
    ],
    "watch": [
        (["watch", "nowhere"], 2, "io_error"),
        (["watch", "--read-only"], 2, "read_only"),
        (["watch", "--debounce", "1"], 2, "usage_invalid"),
    ],
    "search": [
        (["search", "restore"], 0, "search_response.v1"),
        (["search", "restore", "-n", "1", "--trace", "--mode", "lexical"], 0, "search_response.v1"),
        (["search", "restore", "--detail", "passages"], 0, "search_response.v1"),
        (["search", "restore", "--detail", "ids", "--format", "compact"], 0, "search_response.v1"),
        (["search", "restore", "--max-tokens", "1"], 0, "search_response.v1"),
        (["search", "-q", "restore", "-q", "garden"], 0, "search_response.v1"),
        (["search", "-q", "restore", "-q", ""], 2, "invalid_input"),
        (["search", "restore", "-l"], 0, "search_response.v1"),
        (["search", "qqqqqqqq", "--mode", "lexical"], 1, "search_response.v1"),
        (["search", "restore", "--mode", "vector"], 2, "embedding_unavailable"),
        (["search", ""], 2, "invalid_input"),
        (["search", "restore", "--in", "notes"], 0, "search_response.v1"),
        (["search", "restore", "--in", "nowhere"], 2, "io_error"),
        (["search", "restore", "--wait", "1"], 2, "usage_invalid"),
        (["search", "x", "--since", "whenever"], 2, "invalid_input"),
        (["search", "x", "--cursor", "forged"], 2, "invalid_cursor"),
        (["search", "x", "-n", "many"], 2, "usage_invalid"),
        (["search", "x", "--detail", "much"], 2, "usage_invalid"),
        (["search", "x", "-l", "--format", "compact"], 2, "usage_invalid"),
    ],
    "grep": [
        (["grep", "restore"], 0, "grep_response.v1"),
        (["grep", "-il", "RESTORE", "work", "-C", "1"], 0, "grep_response.v1"),
        (["grep", "qqqqqqqq"], 1, "grep_response.v1"),
        (["grep", "a("], 2, "invalid_input"),
        (["grep", "x", "--since", "whenever"], 2, "invalid_input"),
        (["grep", "x", "-l", "-c"], 2, "usage_invalid"),
    ],
    "ask": [
        (["ask", "how do I restore a backup", "--extractive"], 0, "answer.v1"),
        (["ask", "qqqqqqqq", "--extractive", "--mode", "lexical"], 1, "answer.v1"),
        (["ask", ""], 2, "invalid_input"),
        (["ask", "how do I restore a backup", "--extractive", "--in", "notes"], 0, "answer.v1"),
        (["ask", "x", "--extractive", "--since", "whenever"], 2, "invalid_input"),
        (["ask", "x", "-n", "many"], 2, "usage_invalid"),
    ],
    "chat": [
        (["chat"], 2, "usage_invalid"),
    ],
    "rank": [
        (["rank", "restore"], 0, "rank_result.v1"),
        (["rank", "restore", "-n", "1", "--mode", "lexical"], 0, "rank_result.v1"),
        (["rank", ""], 2, "invalid_input"),
        (["rank"], 2, "usage_invalid"),
    ],
    "list": [
        (["list"], 0, "doc_list.v1"),
        (["list", "-n", "2", "--offset", "1"], 0, "doc_list.v1"),
        (["list", "--tag", "none"], 1, "doc_list.v1"),
        (["list", "--all"], 0, "doc_list.v1"),
        (["list", "--all", "-n", "1"], 2, "usage_invalid"),
    ],
    "inspect doc": [
        (["inspect", "doc", DOC], 0, "doc_inspection.v1"),
        (["inspect", "doc", "nowhere"], 1, "not_found.v1"),
    ],
    "inspect chunk": [
        (["inspect", "chunk", "CHUNK"], 0, "chunk_inspection.v1"),
        (["inspect", "chunk", "nowhere"], 1, "not_found.v1"),
    ],
    "open": [
        (["open", f"{DOC}:2", "--print"], 0, "open_report.v1"),
        (["open", "nowhere"], 1, "not_found.v1"),
        (["open", "3"], 1, "not_found.v1"),
        (["open", DOC], 2, "dependency_missing"),
        (["open"], 2, "usage_invalid"),
    ],
    "serve": [
        (["serve", "--status"], 1, "serve_status.v1"),
        (["serve", "--stop"], 1, "serve_status.v1"),
        (["serve", "--status", "--stop"], 2, "usage_invalid"),
        (["serve", "--http", "--status"], 2, "usage_invalid"),
        (["serve", "--http", "nowhere:99999"], 2, "usage_invalid"),
        (["serve", "--allow-write"], 2, "usage_invalid"),
    ],
    "outline": [
        (["outline"], 0, "outline.v1"),
        (["outline", DOC, "--depth", "1"], 0, "outline.v1"),
        (["outline", "work", "-n", "1"], 0, "outline.v1"),
        (["outline", "nowhere"], 1, "not_found.v1"),
        (["outline", "--depth", "0"], 2, "usage_invalid"),
    ],
    "fetch": [
        (["fetch", f"{DOC}#L2-L4", "CHUNK", "--section"], 0, "fetch_list.v1"),
        (["fetch", f"{DOC}:2", "nowhere", "--max-tokens", "5"], 1, "fetch_list.v1"),
        (["fetch", "-"], 1, "fetch_list.v1"),
        (["fetch", DOC, "--max-tokens", "0"], 2, "usage_invalid"),
    ],
    "fetch chunk": [
        (["fetch", "chunk", "CHUNK", "--context", "2"], 0, "fetch_result.v1"),
        (["fetch", "chunk", "nowhere"], 1, "not_found.v1"),
    ],
    "fetch doc": [
        (["fetch", "doc", DOC, "--max-chars", "20"], 0, "fetch_result.v1"),
        (["fetch", "doc", "nowhere"], 1, "not_found.v1"),
    ],
    "fetch span": [
        (["fetch", "span", DOC, "2", "4"], 0, "fetch_result.v1"),
        (["fetch", "span", "nowhere", "1"], 1, "not_found.v1"),
    ],
    "related": [
        (["related", DOC], 0, "related_docs.v1"),
        (["related", DOC, "--tag", "none"], 1, "related_docs.v1"),
        (["related", "nowhere"], 1, "not_found.v1"),
        (["related", DOC, "--since", "whenever"], 2, "invalid_input"),
        (["related", DOC, "-n", "many"], 2, "usage_invalid"),
    ],
    "why": [
        (["why", "restore", DOC], 0, "explanation.v1"),
        (["why", "restore -disk", DOC, "--tag", "none"], 1, "explanation.v1"),
        (
            ["why", 'lang:en "restic check"', DOC, "--mode", "lexical", "--per-doc", "1"],
            0,
            "explanation.v1",
        ),
        (["why", "qqqqqqqq", DOC, "--mode", "lexical"], 1, "explanation.v1"),
        (["why", "restore", "CHUNK", "--mode", "vector"], 2, "embedding_unavailable"),
        (["why", "restore", "nowhere"], 1, "not_found.v1"),
        (["why", "", DOC], 2, "invalid_input"),
        (["why", "restore", DOC, "--since", "whenever"], 2, "invalid_input"),
        (["why", "restore", DOC, "-n", "many"], 2, "usage_invalid"),
    ],
    "dupes": [
        (["dupes"], 1, "duplicates.v1"),
        (["dupes", "--exact", "-n", "1"], 1, "duplicates.v1"),
        (["dupes", "--tag", "none"], 1, "duplicates.v1"),
        (["dupes", "--cursor", "forged"], 2, "invalid_cursor"),
        (["dupes", "--threshold", "many"], 2, "usage_invalid"),
        (["dupes", "--exact", "--threshold", "0.9"], 2, "usage_invalid"),
    ],
    "review": [
        (["review", DOC, "--no-llm"], 0, "agent_items.v2"),
        (["review", DOC, "--no-llm", "-n", "1", "--fail-on", "never"], 0, "agent_items.v2"),
        (["review", "nowhere", "--no-llm"], 1, "not_found.v1"),
        (["review", DOC, "--rules", "nonsense"], 2, "invalid_input"),
        (["review", "--run-id", "nowhere"], 1, "not_found.v1"),
        (["review", DOC, "--format", "sarif"], 2, "usage_invalid"),
        (["review", DOC, "--no-llm", "--apply", "--yes"], 0, "review_applied.v1"),
        (["review", DOC, "--no-llm", "--apply", "--dry-run"], 0, "review_applied.v1"),
        (["review", "--run-id", "nowhere", "--apply", "--yes"], 1, "not_found.v1"),
        (["review", DOC, "--no-llm", "--import", "nowhere.json"], 2, "io_error"),
        (["review", DOC, "--no-llm", "--import", "-"], 2, "invalid_input"),
        (["review", "--replay", "nowhere.ndjson"], 2, "usage_invalid"),
        (["review", "--runs"], 0, "review_runs.v1"),
        (["review", "--forget", "nowhere"], 1, "not_found.v1"),
        (["review", "--explain", "all"], 0, "review_rules.v1"),
        (["review", "--explain", "nonsense"], 1, "not_found.v1"),
        (["review"], 2, "usage_invalid"),
    ],
    "translate": [
        (["translate", "nowhere", "--to", "ko"], 1, "not_found.v1"),
        (["translate", "--run-id", "nowhere"], 1, "not_found.v1"),
        (["translate", DOC, "--to", "en"], 2, "invalid_input"),
        (["translate", DOC, "--to", "to Korean"], 2, "invalid_input"),
        (["translate", DOC], 2, "usage_invalid"),
        (["translate"], 2, "usage_invalid"),
        (["translate", DOC, "--to", "ko", "--tier", "best"], 2, "usage_invalid"),
    ],
    "rm": [
        (["rm", DOC], 0, "remove_report.v1"),
        (["rm", "nowhere"], 1, "not_found.v1"),
    ],
    "source list": [
        (["source", "list"], 0, "source_list.v1"),
    ],
    "source rm": [
        (["source", "rm", "notes", "--yes"], 0, "source_removed.v1"),
        (["source", "rm", "notes"], 2, "confirmation_required"),
        (["source", "rm", "nowhere"], 1, "not_found.v1"),
        (["source", "rm"], 2, "usage_invalid"),
    ],
    "session list": [
        (["session", "list"], 0, "session_list.v1"),
    ],
    "session show": [
        (["session", "show", "talk"], 0, "session_transcript.v1"),
        (["session", "show", "nowhere"], 1, "not_found.v1"),
    ],
    "session rm": [
        (["session", "rm", "talk"], 0, "session_removed.v1"),
        (["session", "rm", "talk", "nowhere"], 1, "not_found.v1"),
        (["session", "rm", "a\nb"], 2, "invalid_input"),
        (["session", "rm", "--all", "--yes"], 0, "session_removed.v1"),
        (["session", "rm", "--all"], 2, "confirmation_required"),
        (["session", "rm"], 2, "usage_invalid"),
    ],
    "reset": [
        (["reset", "--yes"], 0, "reset_report.v1"),
        (["reset"], 2, "confirmation_required"),
    ],
    "doctor": [
        (["doctor"], 0, "doctor.v1"),
    ],
    "schema": [
        (["schema"], 0, "schema.v1"),
        (["schema", "--errors"], 0, "error_catalog.v1"),
        (["schema", "--commands"], 0, "command_list.v1"),
        (["schema", "search_response"], 0, "schema_document.v1"),
        (["schema", "search_answer.v1"], 1, "not_found.v1"),
        (["schema", "error.v1", "--errors"], 2, "usage_invalid"),
    ],
    "install": [
        (["install", "claude-code", "--uninstall"], 0, "install_report.v1"),
        (["install", "claude-code"], 2, "confirmation_required"),
        (["install"], 0, "install_overview.v1"),
        (["install", "zed", "--print"], 0, "install_snippet.v1"),
        (["install", "codex", "--dry-run"], 0, "install_report.v1"),
        (["install", "vim"], 2, "usage_invalid"),
    ],
    "completion": [
        (["completion", "zsh"], 0, "completion_script.v1"),
        (["completion", "tcsh"], 2, "usage_invalid"),
    ],
    "mcp": [
        (["mcp", "--allow-write", "--read-only"], 2, "usage_invalid"),
    ],
    "stats": [
        (["stats"], 0, "stats.v1"),
        (["stats", "--since", "7d"], 0, "stats.v1"),
        (["stats", "--since", "whenever"], 2, "invalid_input"),
    ],
    "errors": [
        (["errors"], 0, "error_stats.v1"),
        (["errors", "--since", "24h", "--by", "kind"], 0, "error_stats.v1"),
        (["errors", "--id", "nowhere"], 1, "not_found.v1"),
        (["errors", "--since", "whenever"], 2, "invalid_input"),
        (["errors", "--by", "luck"], 2, "usage_invalid"),
    ],
    "explain": [
        (["explain", "locked"], 0, "error_catalog.v1"),
        (["explain", "nonsense"], 1, "not_found.v1"),
    ],
    "model list": [
        (["model", "list"], 0, "model_list.v1"),
    ],
    "model pull": [
        (["model", "pull", "nonsense"], 2, "invalid_input"),
    ],
    "model use": [
        (["model", "use", "nonsense"], 2, "invalid_input"),
    ],
    "eval run": [
        (["eval", "run", f"{EVALS}/queries.jsonl"], 0, "eval_report.v1"),
        (
            ["eval", "run", f"{EVALS}/queries.jsonl", "--out", "report.json", "--by-doc"],
            0,
            "eval_report.v1",
        ),
        (["eval", "run", f"{EVALS}/queries.jsonl", "--mode", "vector"], 2, "embedding_unavailable"),
        (["eval", "run", f"{EVALS}/queries.jsonl", "-n", "many"], 2, "usage_invalid"),
        (["eval", "run", "nowhere.jsonl"], 2, "io_error"),
    ],
    "eval compare": [
        (
            ["eval", "compare", f"{EVALS}/before.json", f"{EVALS}/after.json", "--metric", "hit@1"],
            0,
            "eval_comparison.v1",
        ),
        (["eval", "compare", f"{EVALS}/before.json", f"{EVALS}/queries.jsonl"], 2, "invalid_input"),
    ],
    "eval init": [
        (["eval", "init"], 0, "eval_draft.v1"),
        (["eval", "init", "--count", "3", "--out", "no/where.jsonl"], 2, "io_error"),
    ],
    "bench": [
        (["bench", "--chunks", "none"], 2, "usage_invalid"),
    ],
}
"""The lines of each command, each with its exit status and the schema or the error code."""

for _command, _line in list_example_lines().items():
    _row = OPERATIONS[_command.replace(" ", "_")]
    CASES.setdefault(_command, [([*_line], 0, _row.replies[0].__struct_config__.tag)])

STATED = [
    (path, arguments, (status, outcome))
    for path, cases in CASES.items()
    for arguments, status, outcome in cases
]


def place_flags(stated):
    """Return cases, each with whether a flag comes first; the lines of a command take turns.

    Where a flag may stand is decided by the command, so each command gets it at both ends.
    """
    placed = []
    for _, group in groupby(stated, key=itemgetter(0)):
        lines = list(group)
        placed += [(*case, number % 2 == 0) for number, case in enumerate(lines)]
        if len(lines) == 1:
            placed.append((*lines[0], False))
    return placed


def test_every_command_is_held_to_it():
    assert set(CASES) == {path for path, _ in iterate_commands()}


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(("path", "arguments", "stated", "before"), place_flags(STATED))
def test_a_line_has_its_outcome_in_its_schema(path, arguments, stated, before, chunk, kebab):
    said = [chunk if word == "CHUNK" else word for word in arguments]

    ran = kebab(*(["--json", *said] if before else [*said, "--json"]), stdin=b"Some text.\n")

    results = check_channel(ran.out, status=ran.status, command=path)
    asides = check_channel(ran.err, status=ran.status, command=path)
    faults = [one for one in asides if one["schema_version"] == "error.v1"]
    outcomes = [one["schema_version"] for one in results] + [one["code"] for one in faults]
    assert (ran.status, *outcomes) == stated


@pytest.mark.parametrize(
    ("arguments", "status", "codes"),
    [
        (["search", "restore"], 0, []),
        (["search", "x", "--cursor", "forged"], 2, ["invalid_cursor"]),
    ],
)
def test_frames_of_a_search_keep_to_the_schemas(arguments, status, codes, home, kebab):
    ran = kebab(*arguments, "--stream")

    frames = check_channel(ran.out, status=status, command="search")
    asides = check_channel(ran.err, status=status, command="search")
    assert ran.status == status
    assert [one["code"] for one in asides] == codes
    assert [one["type"] for one in frames][-1] == "end"


def test_bulk_answers_keep_to_the_schemas_one_per_line(home, kebab):
    lines = (
        b'"restore"\n{"query": "garden", "limit": 1}\n\nnonsense\n{"query": "x", "lmit": 1}\n"" \n'
    )

    ran = kebab("search", "--bulk", "--mode", "lexical", stdin=lines)

    items = check_channel(ran.out, status=ran.status, command="search")
    assert [one["index"] for one in items] == [0, 1, 2, 3, 4]
    assert ["error" in one for one in items] == [False, False, True, True, True]
    assert len(items[1]["response"]["hits"]) == 1


def test_events_of_an_ingest_keep_to_the_schemas_and_end_once(home, kebab):
    ran = kebab("ingest", str(home / "notes"), "--force", "--stream")

    events = check_channel(ran.out, status=ran.status, command="ingest")
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
        ["fetch", "x"],
        ["grep", "x"],
        ["outline"],
        ["related", "x"],
        ["dupes"],
        ["why", "x", "y"],
        ["rm", "x"],
        ["session", "list"],
        ["session", "show", "x"],
        ["session", "rm", "x"],
        ["session", "rm", "--all", "--yes"],
    ],
)
def test_without_a_knowledge_base_reading_says_not_indexed(arguments, empty, kebab):
    ran = kebab(*arguments, "--json")

    assert (ran.status, ran.out, ran.fault["code"]) == (3, "", "not_indexed")
    assert not (empty / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "schema"),
    [
        (["schema"], 0, "schema.v1"),
        (["doctor"], 0, "doctor.v1"),
        (["model", "list"], 0, "model_list.v1"),
        (["review", "--runs"], 0, "review_runs.v1"),
        (["review", "--explain", "all"], 0, "review_rules.v1"),
    ],
)
def test_without_a_knowledge_base_the_rest_still_works(arguments, status, schema, empty, kebab):
    ran = kebab(*arguments, "--json")

    assert (ran.reply["schema_version"], ran.status) == (schema, status)
    assert not (empty / "data").exists()
