"""Every command under every circumstance that it can tell apart."""

from collections.abc import Iterator
from pathlib import Path

from tests.examples import list_example_lines
from tests.fakes.ollama import Answer, Fail, Say
from tests.golden.case import Case, Steps
from tests.golden.meetings import (
    accept_no_connection,
    build_failing_opener,
    change_index,
    hold_lock,
    ingest_note,
    log_errors,
    refuse_connections,
    remove_file,
    remove_library,
    write_file,
    write_many_files,
)

DOC = "work/backups.md"
FILE = f"notes/{DOC}"
RESTORE = "What is checked first when a restore fails?"
CHECKED = "Check the repository first with `restic check --read-data-subset=5%` [1]."
ASK = ("ask", RESTORE, "--limit", "1")

SUCCESS: dict[str, tuple[str, ...]] = {
    "init": ("init", "--workspace", "notes"),
    "ingest": ("ingest", "notes"),
    "search": ("search", "restore"),
    "grep": ("grep", "restore", "--context", "1"),
    "ask": ("ask", RESTORE, "--extractive"),
    "list": ("list",),
    "inspect doc": ("inspect", "doc", DOC),
    "inspect chunk": ("inspect", "chunk", "{chunk}"),
    "outline": ("outline", DOC),
    "fetch": ("fetch", DOC, "--max-tokens", "30"),
    "related": ("related", DOC),
    "dupes": ("dupes",),
    "review": ("review", FILE, "--no-llm"),
    "rm": ("rm", DOC),
    "source list": ("source", "list"),
    "source rm": ("source", "rm", "notes", "--yes"),
    "session list": ("session", "list"),
    "session show": ("session", "show", "talk"),
    "session rm": ("session", "rm", "talk"),
    "reset": ("reset", "--yes"),
    "doctor": ("doctor",),
    "schema": ("schema",),
    "install": ("install", "claude-code", "--uninstall"),
    "completion": ("completion", "bash"),
    "errors": ("errors",),
    "explain": ("explain", "locked"),
    "help": ("help",),
    "eval": ("eval", "golden/queries.jsonl", "--mode", "lexical"),
    "model list": ("model", "list"),
    "model pull": ("model", "pull"),
    "model use": ("model", "use", "auto"),
}
"""A plain line of each command that answers; `chat` and `open` are for people,
`export` and `import` count bytes and hashes that depend on times, `mcp` talks with a client,
`publish` and `source add` make keys and
times, `serve` names a path of the machine, `translate` needs a model, and `watch` has no end."""

for _command, _line in list_example_lines().items():
    SUCCESS.setdefault(_command, _line)

NEVER = {
    "chat": ("chat",),
    "export": ("export", "nowhere/base.zip"),
    "import": ("import", "nowhere/base.zip", "--yes"),
    "mcp": ("mcp",),
    "open": ("open", "nowhere"),
    "publish": ("publish", "nowhere/base"),
    "serve": ("serve", "--status"),
    "source add": ("source", "add", "nowhere"),
    "translate": ("translate", "nowhere", "--to", "ko"),
    "watch": ("watch", "nowhere"),
}
LINES = {**SUCCESS, **NEVER}
NEEDS_MODEL = ("model pull", "model use")

NAMED = {
    command: tuple("nowhere" if word in (DOC, FILE, "{chunk}", "talk") else word for word in line)
    for command, line in SUCCESS.items()
    if {DOC, FILE, "{chunk}", "talk"} & {*line}
}
"""The same about something that is not there."""

READS_INDEX = (
    *(command for command in NAMED if command != "review"),
    "search",
    "grep",
    "ask",
    "dupes",
    "list",
    "source list",
    "session list",
    "eval",
)
WORKS_ALWAYS = ("schema", "doctor", "model list", "ingest", "reset", "init")
WRITES = (
    "init",
    "ingest",
    "rm",
    "source rm",
    "session rm",
    "reset",
    "model pull",
    "model use",
)
TAKES_NO_LOCK = ("model pull", "session rm")
NO_SETTINGS = (
    "completion",
    "install",
    "errors",
    "explain",
    "help",
    "chat",
    "serve",
)
OPENS = tuple(command for command in SUCCESS if command not in NO_SETTINGS)

STATES = {
    "not_indexed": "empty",
    "older_schema": "older",
    "newer_schema": "newer",
    "store_corrupt": "damaged",
}


def list_cases() -> list[Case]:
    """Return all cases."""
    found = [
        *_list_successes(),
        *_list_refusals(),
        *_list_index_states(),
        *_list_forbidden_writes(),
        *_list_unexpected_errors(),
        *_list_search_cases(),
        *_list_ask_cases(),
        *_list_ingest_cases(),
        *_list_comparison_cases(),
        *_list_other_cases(),
        *_list_model_cases(),
        *_list_eval_cases(),
    ]
    assert len({case.path for case in found}) == len(found)
    return found


def _list_successes() -> Iterator[Case]:
    for command, line in SUCCESS.items():
        home = "vectors" if command in NEEDS_MODEL else "empty" if command == "ingest" else "words"
        yield Case(command=command, name="success", line=line, home=home)


def _list_refusals() -> Iterator[Case]:
    """Yield lines that are refused before anything is looked at."""
    for command, line in LINES.items():
        yield Case(command=command, name="usage_invalid", line=(*line, "--nonsense"))
        if command not in NO_SETTINGS:
            wrong = (*line, "--config", "nowhere/else.toml")
            # Doctor reports what is wrong with the settings, and goes on.
            name = "without_settings" if command == "doctor" else "config_invalid"
            yield Case(command=command, name=name, line=_build_line(wrong))
    yield Case(command="chat", name="for_people", line=NEVER["chat"])
    yield Case(command="watch", name="io_error", line=NEVER["watch"])
    yield Case(command="watch", name="read_only", line=("watch", "--read-only"))


def _list_index_states() -> Iterator[Case]:
    """Yield what commands make of a missing, foreign or damaged index, and of a missing thing."""
    for command, line in NAMED.items():
        yield Case(command=command, name="not_found", line=line)
    for name, home in STATES.items():
        for command in READS_INDEX:
            yield Case(command=command, name=name, line=_build_line(SUCCESS[command]), home=home)
        for command in WORKS_ALWAYS:
            if (command, home) != ("ingest", "empty"):
                yield Case(command=command, name=f"on_{home}", line=SUCCESS[command], home=home)


def _list_forbidden_writes() -> Iterator[Case]:
    """Yield writes that may not be."""
    for command in WRITES:
        line, home = SUCCESS[command], "vectors" if command in NEEDS_MODEL else "words"
        yield Case(command=command, name="read_only", line=(*line, "--read-only"), home=home)
        if command != "init":
            name = "beside_a_writer" if command in TAKES_NO_LOCK else "locked"
            yield Case(command=command, name=name, line=line, home=home, meets=hold_lock)


def _list_unexpected_errors() -> Iterator[Case]:
    """Yield what no table knows, and interruptions."""
    for command in OPENS:
        line = _build_line(SUCCESS[command])
        surprise = build_failing_opener(RuntimeError("nobody expected this"))
        yield Case(command=command, name="generic", line=line, opener=surprise)
        cut = build_failing_opener(KeyboardInterrupt())
        yield Case(command=command, name="cancelled", line=line, opener=cut)
    yield Case(
        command="search",
        name="out_of_memory",
        line=_build_line(SUCCESS["search"]),
        opener=build_failing_opener(MemoryError()),
    )
    yield Case(
        command="search",
        name="generic_verbose",
        line=(*SUCCESS["search"], "--verbose"),
        opener=build_failing_opener(RuntimeError("nobody expected this")),
    )


def _build_line(line: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line that asks nothing of the home before it is run."""
    return tuple("nowhere" if word == "{chunk}" else word for word in line)


def _list_search_cases() -> Iterator[Case]:
    lines = b'"restore"\n{"query": "garden", "limit": 1}\nnonsense\n{"query": "x", "lmit": 1}\n""\n'
    for name, line in {
        "empty": ("restore", "--path", "nowhere/**"),
        "no_hit": ("qqqqqqqq", "--mode", "lexical"),
        "first_page": ("restore", "-n", "1"),
        "next_page": ("restore", "-n", "1", "--cursor", "{cursor}"),
        "several": ("-q", "restore", "-q", "garden", "-n", "3", "--mode", "lexical"),
        "empty_among_several": ("-q", "restore", "-q", " "),
        "budget": ("restore", "--max-tokens", "150", "--detail", "passages"),
        "passages": ("restore", "-n", "2", "--detail", "passages"),
        "traced": ("restore", "--mode", "lexical", "-n", "1"),
        "korean": ("배추", "--mode", "lexical"),
        "empty_query": ("",),
        "bad_date": ("x", "--since", "whenever"),
        "bad_number": ("x", "-n", "many"),
        "embedding_unavailable": ("restore", "--mode", "vector"),
        "invalid_cursor": ("restore", "--cursor", "forged"),
        "cursor_of_another_query": ("garden", "-n", "1", "--cursor", "{cursor}"),
        "stream": ("restore", "-n", "1", "--stream"),
        "stream_error": ("restore", "--cursor", "forged", "--stream"),
        "while_read_only": ("restore", "-n", "1", "--read-only"),
    }.items():
        yield Case(command="search", name=name, line=("search", *line))
    yield Case(
        command="search",
        name="stale_cursor",
        line=("search", "restore", "-n", "1", "--cursor", "{cursor}"),
        meets=change_index,
    )
    yield Case(
        command="search",
        name="bulk",
        line=("search", "--bulk", "--mode", "lexical", "-n", "1"),
        stdin=lines,
    )
    yield Case(
        command="search", name="nothing_indexed", line=("search", "restore"), home="nothing in it"
    )
    for mode in ("vector", "hybrid"):
        yield Case(
            command="search",
            name=mode,
            line=("search", "the cat sleeps", "--mode", mode, "-n", "2"),
            home="vectors",
        )
    other = {"KEBAB_MODELS_EMBEDDING_MODEL": "multilingual-e5-small"}
    by_meaning = ("search", "restore", "--mode", "vector")
    yield Case(
        command="search",
        name="embedding_mismatch",
        line=by_meaning,
        home="vectors",
        settings=other,
    )
    yield Case(
        command="search",
        name="dependency_missing",
        line=by_meaning,
        home="vectors",
        meets=remove_library("onnxruntime"),
    )
    yield Case(
        command="search",
        name="gone_file",
        line=("search", "restore", "-n", "1"),
        meets=remove_file(f"notes/{DOC}"),
    )


def _list_ask_cases() -> Iterator[Case]:
    says: dict[str, Steps] = {
        "generative": (Say("Check the repository first with ", CHECKED[32:]),),
        "self_judged": (Say("NOT_IN_NOTES"),),
        "unsupported": (Say("The moon is made of green cheese [1]."),),
        "model_not_pulled": (Fail("missing"),),
        "model_rejected": (Fail("embedding_only"),),
        "model_busy": (Fail("busy"),),
        "model_protocol": (Fail("login"),),
        "context_overflow": (Fail("overflow"),) * 2,
        "cut_stream": (Say("Check the", end="cut"),),
        "silent_end": (Say("Check the", end="silent"),),
    }
    for name, steps in says.items():
        yield Case(command="ask", name=name, line=ASK, says=steps)
    hasty = {"KEBAB_MODELS_LLM_FIRST_TOKEN_S": "0.2"}
    held = (Answer(body=b"", delay_s=30),)
    yield Case(command="ask", name="timeout", line=ASK, says=held, settings=hasty)
    yield Case(command="ask", name="model_unreachable", line=ASK, meets=refuse_connections)
    odd = {"OLLAMA_HOST": "127.0.0.1:many"}
    yield Case(command="ask", name="unreadable_port", line=ASK, settings=odd)
    yield Case(
        command="ask",
        name="model_unreachable_no_connection",
        line=ASK,
        meets=accept_no_connection,
        settings={"KEBAB_MODELS_LLM_CONNECT_S": "0.2"},
    )
    extractive = ("ask", RESTORE, "--extractive")
    for name, line in {
        "no_chunks": ("ask", "qqqqqqqq", "--extractive", "--mode", "lexical"),
        "absent_terms": ("ask", RESTORE.replace("when", "at Ruritania when"), "--extractive"),
        "uncertain": ("ask", RESTORE.replace("fails", "of 2031 fails"), "--extractive"),
        "empty_question": ("ask", ""),
        "model_of_no_use": (*extractive, "--model", "gemma3:4b"),
        "bad_number": ("ask", "x", "-n", "many"),
        "in_session": (*extractive, "--session", "talk"),
        "read_only": (*extractive, "--session", "talk", "--read-only"),
        "stream": (*extractive, "--stream"),
        "embedding_unavailable": (*extractive, "--mode", "vector"),
    }.items():
        yield Case(command="ask", name=name, line=line)
    streams: dict[str, Steps] = {
        "stream_model_busy": (Fail("busy"),),
        "stream_generative": (Say(CHECKED),),
    }
    for name, steps in streams.items():
        yield Case(command="ask", name=name, line=(*ASK, "--stream"), says=steps)
    yield Case(
        command="ask",
        name="nothing_indexed",
        line=("ask", RESTORE, "--extractive"),
        home="nothing in it",
    )


def _list_ingest_cases() -> Iterator[Case]:
    """Yield what `ingest` meets."""
    photo = write_file("photo.jpg", b"\xff\xd8\xff\xe0" * 20)
    binary = write_file("bad.md", b"\0\1\2\3" * 50)
    for name, line, home in (
        ("unchanged", ("ingest", "notes"), "words"),
        ("everything_again", ("ingest", "--force"), "words"),
        ("dry_run", ("ingest", "notes", "--dry-run"), "empty"),
        ("with_vectors", ("ingest", "--force"), "vectors"),
        ("io_error", ("ingest", "nowhere"), "words"),
        ("nothing_to_read", ("ingest",), "empty"),
        ("stream", ("ingest", f"notes/{DOC}", "--stream"), "empty"),
    ):
        yield Case(command="ingest", name=name, line=line, home=home)
    empty = ("ingest", "hollow")
    yield Case(command="ingest", name="empty", line=empty, meets=write_file("hollow/.keep", b""))
    yield Case(
        command="ingest", name="unsupported_media", line=("ingest", "photo.jpg"), meets=photo
    )
    yield Case(
        command="ingest",
        name="secret_file",
        line=("ingest", ".env"),
        meets=write_file(".env", b"A=1"),
    )
    yield Case(command="ingest", name="parse_failed", line=("ingest", "bad.md"), meets=binary)
    yield Case(
        command="ingest",
        name="item_error",
        line=("ingest", "odd"),
        meets=write_file("odd/bad.md", b"\0\1\2\3" * 50),
    )
    yield Case(
        command="ingest",
        name="too_large",
        line=("ingest", f"notes/{DOC}"),
        settings={"KEBAB_INGEST_MAX_FILE_BYTES": "9"},  # a text is read in part up to ten times
    )
    yield Case(
        command="ingest",
        name="cluster_unreachable",
        line=("ingest", "many", "--ray", "127.0.0.1:9"),
        meets=write_many_files,
    )
    text = ("ingest", "--stdin", "--title", "Tea")
    yield Case(command="ingest", name="stdin", line=text, stdin=b"Tea brews 3 minutes.\n")
    yield Case(command="ingest", name="stdin_without_title", line=text[:2])
    yield Case(
        command="ingest",
        name="stdin_too_large",
        line=text,
        stdin=b"x" * 200,
        settings={"KEBAB_INGEST_MAX_FILE_BYTES": "100"},
    )
    yield Case(
        command="ingest",
        name="embedding_mismatch",
        line=("ingest", "--force"),
        home="vectors",
        settings={"KEBAB_MODELS_EMBEDDING_MODEL": "multilingual-e5-small"},
    )


def _list_comparison_cases() -> Iterator[Case]:
    """Yield what `related` and `dupes` meet."""
    line = SUCCESS["related"]
    for name, more in {"filtered": ("--lang", "ko"), "empty": ("--tag", "none")}.items():
        yield Case(command="related", name=name, line=(*line, *more))
    yield Case(command="related", name="with_vectors", line=line, home="vectors")
    other = {"KEBAB_MODELS_EMBEDDING_MODEL": "multilingual-e5-small"}
    yield Case(command="related", name="another_model", line=line, home="vectors", settings=other)
    yield Case(
        command="related",
        name="without_numpy",
        line=line,
        home="vectors",
        meets=remove_library("numpy"),
    )
    copied = (Path(__file__).resolve().parents[2] / "samples" / "notes" / DOC).read_bytes()
    edited = copied.replace(b"restic", b"borg", 1)
    twins = {"exact": copied, "near": edited}
    for name, data in twins.items():
        for flag in ((), ("--exact",)):
            kind = f"{name}{'_asked_for_exact' if flag else ''}"
            yield Case(
                command="dupes",
                name=kind,
                line=("dupes", *flag),
                meets=ingest_note("copy.md", data),
            )
    for name, flags in {
        "empty": ("--tag", "none"),
        "bad_threshold": ("--threshold", "2"),
        "contradiction": ("--threshold", "0.9", "--exact"),
    }.items():
        yield Case(command="dupes", name=name, line=("dupes", *flags))
    yield Case(
        command="dupes", name="dependency_missing", line=("dupes",), meets=remove_library("numpy")
    )


def _list_other_cases() -> Iterator[Case]:
    for command, name, line in (
        ("list", "empty", ("list", "--tag", "none")),
        ("search", "in_a_folder", ("search", "restore", "--in", "notes/work", "--mode", "lexical")),
        ("search", "in_no_folder", ("search", "restore", "--in", "nowhere")),
        ("list", "second_page", ("list", "-n", "2", "--offset", "2")),
        ("list", "bad_date", ("list", "--since", "whenever")),
        ("rm", "one_of_two_not_found", ("rm", DOC, "nowhere")),
        ("rm", "no_name", ("rm",)),
        ("fetch", "passage", ("fetch", "{chunk}", "--context", "1")),
        ("fetch", "past_the_end", ("fetch", f"{DOC}:900")),
        ("review", "stream", ("review", FILE, "--no-llm", "--stream")),
        ("review", "stream_not_found", ("review", "nowhere", "--stream")),
        ("review", "stream_error", ("review", FILE, "--tier", "deep", "--stream")),
        ("review", "unknown_rules", ("review", FILE, "--no-llm", "--rules", "bogus")),
        ("review", "runs", ("review", "--runs")),
        ("review", "unknown_run", ("review", "--run-id", "nowhere")),
        ("review", "nothing_to_fix", ("review", FILE, "--no-llm", "--apply", "--yes")),
        ("review", "model_required", ("review", FILE, "--tier", "deep")),
        ("translate", "folder", ("translate", "notes", "--to", "ko")),
        ("translate", "no_language", ("translate", FILE)),
        ("translate", "bad_language", ("translate", FILE, "--to", "to Korean")),
        ("translate", "same_language", ("translate", FILE, "--to", "en")),
        ("translate", "model_protocol", ("translate", FILE, "--to", "ko")),
        ("source rm", "confirmation_required", ("source", "rm", "notes")),
        ("source rm", "not_found", ("source", "rm", "nowhere", "--yes")),
        ("session rm", "everything", ("session", "rm", "--all", "--yes")),
        ("session rm", "confirmation_required", ("session", "rm", "--all")),
        ("session rm", "nothing_named", ("session", "rm")),
        ("reset", "confirmation_required", ("reset",)),
        ("reset", "with_models", ("reset", "--yes", "--models")),
        ("schema", "catalogue", ("schema", "--errors")),
        ("errors", "one", ("errors", "--id", "{fault}")),
        ("errors", "not_found", ("errors", "--id", "nowhere")),
        ("errors", "bad_date", ("errors", "--since", "whenever")),
        ("errors", "bad_dimension", ("errors", "--by", "luck")),
        ("explain", "not_found", ("explain", "nonsense")),
        ("explain", "nothing_named", ("explain",)),
        ("help", "unknown", ("help", "setings")),
        ("doctor", "while_read_only", ("doctor", "--read-only")),
        ("doctor", "plan_of_nothing", ("doctor", "--fix", "--dry-run")),
        ("doctor", "fix_read_only", ("doctor", "--fix", "--yes", "--read-only")),
        ("doctor", "yes_without_fix", ("doctor", "--yes")),
    ):
        yield Case(command=command, name=name, line=line)
    yield Case(
        command="install",
        name="client_config_invalid",
        line=("install", "gemini", "--yes"),
        meets=write_file(".gemini/settings.json", b'{"theme": }'),
    )
    yield Case(command="errors", name="after_faults", line=("errors",), meets=log_errors)
    yield Case(command="errors", name="by_code", line=("errors", "--by", "code"), meets=log_errors)
    for command in ("session list", "list"):
        yield Case(
            command=command, name="nothing_indexed", line=SUCCESS[command], home="nothing in it"
        )
    yield Case(command="doctor", name="server_gone", line=("doctor",), meets=refuse_connections)
    fix = ("doctor", "--fix", "--yes")
    yield Case(command="doctor", name="fix_of_damage", line=fix, home="damaged")
    yield Case(command="doctor", name="fix_locked", line=fix, meets=hold_lock)
    yield Case(command="doctor", name="with_vectors", line=("doctor",), home="vectors")
    yield Case(
        command="doctor", name="gone_file", line=("doctor",), meets=remove_file(f"notes/{DOC}")
    )
    yield Case(
        command="init",
        name="already_there",
        line=("init",),
        meets=write_file("config/kebab/config.toml", b"offline = true\n"),
    )
    yield Case(
        command="init",
        name="broken_file",
        line=("init",),
        meets=write_file("config/kebab/config.toml", b"[search]\nlimit = 0\n"),
    )
    yield Case(
        command="init",
        name="io_error",
        line=("init",),
        meets=write_file("config", b""),
    )
    yield Case(
        command="ingest",
        name="io_error_of_the_index",
        line=("ingest", "notes", "--data-dir", "occupied/kebab"),
        meets=write_file("occupied", b""),
    )
    yield Case(
        command="errors",
        name="io_error",
        line=("errors",),
        meets=write_file("state/kebab/kebab.log/below", b""),
    )


def _list_model_cases() -> Iterator[Case]:
    for name in ("pull", "use"):
        command = f"model {name}"
        yield Case(command=command, name="unknown_model", line=("model", name, "nonsense"))
        yield Case(command=command, name="embedding_unavailable", line=("model", name, "auto"))
    other = {"KEBAB_MODELS_EMBEDDING_MODEL": "all-minilm-l6-v2"}
    use = ("model", "use", "multilingual-e5-small")
    yield Case(command="model use", name="settings_disagree", line=use, settings=other)
    yield Case(command="model list", name="installed", line=("model", "list"), home="vectors")


def _list_eval_cases() -> Iterator[Case]:
    """Yield what golden questions meet."""
    bad = write_file(
        "bad.jsonl", b'{"query": "a", "doc": "b"}\n{"query": "a", "line_start": "x"}\n'
    )
    for name, line in (
        ("io_error", ("eval", "nowhere.jsonl")),
        ("embedding_unavailable", (*SUCCESS["eval"], "--mode", "vector")),
    ):
        yield Case(command="eval", name=name, line=line)
    yield Case(command="eval", name="bad_line", line=("eval", "bad.jsonl"), meets=bad)
