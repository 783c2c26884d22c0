"""Every hint is run against the fault that produces it, as a shell runs it.

Afterwards the fault is gone, or the next message is another one. What needs a network, a model
server or an administrator is only checked for its form.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from kebab.app.facade import Kebab
from kebab.cli.command import COMMANDS
from kebab.errors.catalog import (
    ContextOverflow,
    DependencyMissing,
    EmbeddingMismatch,
    Locked,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    OutOfMemory,
    TimedOut,
    build_catalog,
)
from kebab.errors.hints import MAX_HINT_CHARS
from kebab.wire.ask import AskRequest
from kebab.wire.library import ListRequest
from tests.fakes.console import run
from tests.fakes.tesseract import install_tesseract
from tests.shape.tree import ROOT

QUESTION = "how do I restore 'a' backup?"
SERVER: dict[str, Any] = {"endpoint": "http://127.0.0.1:1", "operation": "ask"}
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(kebab|ollama|pip|mkdir|chmod|mv|unset|export|ulimit|df) ")
LITERAL = re.compile(r"`([^`]+)`")
OUTSIDE = ("ollama", "pip", "ulimit", "df")
"""Programs that need a network, a server or another shell; only the form of the line is checked."""

ANSWERED_ELSEWHERE = {
    "unauthorized": "its hint is a header of HTTP, tried in tests/unit/http",
    "client_config_invalid": "its hint is tried in tests/unit/cli/commands/test_install.py",
    "server_busy": "its hint is no command",
    "cluster_unreachable": "its hints start a program of Ray, or name the same ingest again",
    "usage_invalid": "its hints are tried in test_usage_hints.py",
    "generic": "its hint is tried in `test_an_unexpected_error_leads_to_its_trace`",
    "confirmation_required": "its hints are tried in test_names.py, where the user wants to delete",
}
"""Codes with a hint that this file does not provoke by name, each with the reason."""


def find_commands(hint):
    """Return the commands of a hint: all of it, or what stands in backticks."""
    return [hint] if COMMAND.match(hint) else LITERAL.findall(hint)


@pytest.fixture
def shell(kebab, monkeypatch):
    """Run a line as a POSIX shell does, with kebab in this process."""

    def call(line):
        folder, _, rest = line.rpartition(" && ")
        if folder:
            monkeypatch.chdir(*shlex.split(folder)[1:])
        words = shlex.split(rest)
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            monkeypatch.setenv(name, value)
        if words[0] == "export":
            return call(f"{words[1]} true")
        if words[0] == "unset":
            return [monkeypatch.delenv(name) for name in words[1:]]
        if words[0] == "kebab":
            return kebab(*words[1:])
        if words[0] in OUTSIDE:
            return None
        assert words[0] in ("true", "mkdir", "chmod", "mv")
        return subprocess.run(words, check=True)

    return call


def set_schema_version(home, version):
    database = apsw.Connection(str(home / "data" / "kebab" / "kebab.sqlite"))
    database.execute(f"PRAGMA user_version = {version}")
    database.close()


def break_database(home):
    folder = home / "data" / "kebab"
    for end in ("-wal", "-shm"):
        (folder / f"kebab.sqlite{end}").unlink(missing_ok=True)
    (folder / "kebab.sqlite").write_bytes(b"nothing of the kind\n" * 500)


def write_settings(home, text):
    (home / "config" / "kebab").mkdir(parents=True, exist_ok=True)
    (home / "config" / "kebab" / "config.toml").write_text(text)


def copy_sample(home, name):
    """Copy a sample, beside a program that recognises its text, whatever this machine has."""
    shutil.copy(ROOT / "samples" / "formats" / name, home / name)
    (home / "bin").mkdir()
    install_tesseract(home / "bin", "restore")


def make_slow_parser(monkeypatch):
    """Let the parser need half a second of processor time for one file."""
    import time

    from kebab.parse.text.markdown import MarkdownParser

    parse = MarkdownParser.parse

    def parse_slowly(*arguments, **named):
        if "A slow document" in repr(arguments) + repr(named):
            until = time.thread_time() + 0.5
            while time.thread_time() < until:
                sum(range(1000))
        return parse(*arguments, **named)

    monkeypatch.setattr(MarkdownParser, "parse", parse_slowly)


FAULTS = [
    ("config_invalid", ["--config", "no such.toml", "search", "x"], lambda home: None),
    ("config_invalid", ["--config", "none/c.toml", "init"], lambda home: None),
    ("config_invalid", ["list"], lambda home: write_settings(home, "[search]\nlimit = 0\n")),
    ("config_invalid", ["list"], lambda home: os.environ.update(KEBAB_SEARCH_LIMIT="none")),
    (
        "config_invalid",
        ["list"],
        lambda home: write_settings(home, '[models.embedding]\nmodel = "x"\n'),
    ),
    ("invalid_cursor", ["search", "restore", "--cursor", "forged"], lambda home: None),
    ("not_indexed", ["--data-dir", "new base", "search", "x"], lambda home: None),
    ("not_indexed", ["search", "x"], lambda home: set_schema_version(home, 1_000)),
    ("embedding_unavailable", ["search", "restore", "--mode", "vector"], lambda home: None),
    ("read_only", ["ingest", "notes", "--read-only"], lambda home: None),
    ("store_corrupt", ["list"], break_database),
    ("io_error", ["ingest"], lambda home: (home / "notes").rename(home / "moved")),
    ("unsupported_media", ["ingest", "scan.png"], lambda home: copy_sample(home, "scan.png")),
    ("parse_failed", ["ingest", "scanned.pdf"], lambda home: copy_sample(home, "scanned.pdf")),
]
"""The code of a fault, a command line that meets it, and what produces it."""


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case[0])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_hint_ends_its_fault_or_leads_to_another_message(case, lang, home, shell, monkeypatch):
    code, arguments, produce = case
    monkeypatch.setenv("KEBAB_LANG", lang)
    monkeypatch.setenv("KEBAB_SEARCH_LIMIT", "5")  # so that it is restored afterwards
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    produce(home)

    messages: list[str] = []
    for _ in range(5):
        ran = run(*arguments, "--json")
        fault = ran.fault if ran.status not in (0, 1) else None
        if fault is None:
            break
        assert messages or fault["code"] == code
        assert fault["message"] not in messages, "the hint leads back to the fault"
        messages.append(fault["message"])
        if follow(fault["hint"], arguments, shell) == "ended":
            break
    else:
        pytest.fail(f"no end after five hints: {messages}")


def follow(hint, arguments, shell):
    """Run a hint; return whether the way ends here."""
    assert hint is not None
    (line,) = find_commands(hint)
    if "--fix" in shlex.split(line):
        return follow_repair(line, shell)
    done = shell(line.replace("FOLDER", "notes"))
    if done is None and line.split()[0] in OUTSIDE:
        return "ended"
    if "doctor" in shlex.split(line):
        return follow_doctor(done, shell)
    assert getattr(done, "status", 0) in (0, 1), (line, done)
    command = next(word for word in arguments if word in COMMANDS)
    return "ended" if command in shlex.split(line) else "changed"


def follow_repair(line, shell):
    """Repair as a person who answers yes, and who names the folder when that is asked for."""
    done = shell(f"{line} --yes")
    if "--source FOLDER" in done.out:
        done = shell(f"{line} --yes --source notes")
    assert done.status == 0, done
    return "changed"


def follow_doctor(done, shell):
    """Run the first fix of doctor that belongs to a failure."""
    lines = [line.strip() for line in done.out.splitlines()]
    at = next(at for at, line in enumerate(lines) if line.startswith("✗"))
    fix = next(line for line in lines[at:] if line.startswith("fix: ")).removeprefix("fix: ")
    shell(fix)
    return "changed"


def raise_unless(signal, healed):
    def run(self, request, **options):
        if isinstance(request, AskRequest) and not healed(self, request):
            raise signal
        return original(self, request, **options)

    original = Kebab.run
    return run


MODEL_FAULTS = [
    ModelUnreachable(**SERVER, cause="connection refused"),
    ModelRejected(**SERVER, model="m", cause="it can only embed"),
    ContextOverflow(prompt_tokens=9, context_tokens=8),
]


@pytest.mark.parametrize("signal", MODEL_FAULTS, ids=lambda one: one.code)
def test_a_question_that_no_model_answers_is_answered_without_one(
    signal, home, kebab, shell, monkeypatch
):
    healed = raise_unless(signal, lambda _, request: request.extractive)
    monkeypatch.setattr(Kebab, "run", healed)
    data = home / "한글 base's"
    (home / "data" / "kebab").rename(data)

    fault = kebab("ask", "--data-dir", str(data), "--json", "--", f"-{QUESTION}").fault

    assert fault["code"] == signal.code
    assert "--json" not in fault["hint"]
    done = shell(fault["hint"])
    assert done.status in (0, 1)
    assert "error:" not in done.err


def test_a_timeout_names_the_setting_and_repeats_the_question_with_more_time(
    home, kebab, shell, monkeypatch
):
    late = TimedOut(
        operation="first_token", elapsed_ms=5, deadline_ms=5, setting="models.llm.first_token_s"
    )
    healed = raise_unless(late, lambda kb, _: kb._context.settings.models.llm.first_token_s == 0.01)
    monkeypatch.setattr(Kebab, "run", healed)

    fault = kebab("ask", QUESTION, "--extractive", "--json").fault

    assert "models.llm.first_token_s" in fault["message"]
    assert fault["details"]["setting"] == "models.llm.first_token_s"
    assert shell(fault["hint"]).status in (0, 1)


def find_item(ran):
    (item,) = [one for one in ran.reply["items"] if one["doc_path"] == "slow one.md"]
    return item


def test_a_document_that_takes_too_long_is_read_after_its_hint(home, kebab, shell, monkeypatch):
    make_slow_parser(monkeypatch)
    monkeypatch.setenv("KEBAB_INGEST_DEADLINE_S", "0.3")
    (home / "notes" / "slow one.md").write_text("# Slow\n\nA slow document.\n")

    item = find_item(kebab("ingest", "notes", "--json"))

    assert item["error"]["details"]["path"] == "slow one.md"
    assert "`ingest.deadline_s`" in item["error"]["message"]
    shell(item["error"]["hint"])
    assert find_item(kebab("ingest", "notes", "--json"))["error"] is None


def test_an_unexpected_error_leads_to_its_trace(home, kebab, shell, monkeypatch):
    original = Kebab.run

    def fail(self, request, **options):
        if isinstance(request, ListRequest):
            raise OSError("a secret detail")
        return original(self, request, **options)

    monkeypatch.setattr(Kebab, "run", fail)
    fault = kebab("list", "--json").fault

    found = shell(fault["hint"])
    assert (fault["code"], found.status) == ("generic", 0)
    assert "OSError: a secret detail" in found.out


def test_a_stale_page_is_searched_again(home, kebab, shell):
    cursor = kebab("search", "restore", "-n", "1", "--json").reply["next_cursor"]
    (home / "notes" / "new.md").write_text("# New\n\nRestore it.\n")
    kebab("ingest", "notes")

    fault = kebab("search", "restore", "-n", "1", "--cursor", cursor, "--json").fault

    assert (fault["code"], fault["hint"]) == ("stale_cursor", "kebab search restore -n 1")
    assert shell(fault["hint"]).status == 0


def test_another_model_in_the_settings_is_undone(home, kebab, monkeypatch):
    hint = EmbeddingMismatch(expected="a", found="b").format_hint()

    assert hint == "kebab model use auto"
    assert kebab(*shlex.split(hint)[1:], "--json").fault["code"] == "embedding_unavailable"


FORM_ONLY = [
    ModelNotPulled(**SERVER, model="m; rm -rf ~"),
    ModelBusy(**SERVER),
    ModelProtocol(**SERVER, cause="not HTTP"),
    Locked(path="/x", holder_pid=1),
    Locked(path="/x", holder_pid=None),
    DependencyMissing(feature="vectors", install="pip install onnxruntime"),
    OutOfMemory(operation="ingest"),
    OutOfMemory(operation="ingest", limit_bytes=1),
]


@pytest.mark.parametrize("signal", FORM_ONLY, ids=lambda one: one.code)
def test_the_form_of_a_hint_that_cannot_be_tried_here(signal):
    for line in find_commands(signal.format_hint()):
        assert shlex.split(line)[0] in (*OUTSIDE, "kebab")
        assert ";" not in line or "';" in line or "; rm -rf ~'" in line


def test_every_row_with_a_hint_is_tried():
    tried = {code for code, _, _ in FAULTS}
    tried |= {one.code for one in (*MODEL_FAULTS, *FORM_ONLY)}
    tried |= {"timeout", "stale_cursor", "embedding_mismatch", "io_error"}
    hinting = {
        code
        for code, row in build_catalog().items()
        if any(wording.hint for wording in row.wordings.values())
    }

    assert hinting == tried | ANSWERED_ELSEWHERE.keys()


def test_no_template_deletes_or_overwrites():
    hints = [
        wording.hint
        for row in build_catalog().values()
        for wording in row.wordings.values()
        if wording.hint
    ]

    for line in (line for hint in hints for line in find_commands(hint)):
        words = line.split()
        assert not {"rm", "reset", ">"} & set(words), line
        assert words[0] != "kebab" or words[1] in COMMANDS or words[1].startswith(("{", "-"))


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not stop an administrator")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_missing_permission_is_granted(kind, home, kebab, shell):
    place = home / "notes" / "work" if kind == "folder" else home / "notes" / "work" / "backups.md"
    place.chmod(0)
    fault = kebab("ingest", str(place), "--json").fault
    assert fault["code"] == "io_error"
    shell(fault["hint"])
    assert kebab("ingest", str(place)).status == 0


@pytest.mark.parametrize(
    ("path", "op", "hint"),
    [
        ("/no where/x", "read", "chmod u+rX '/no where/x'"),
        ("/no where/x", "create", "chmod u+rwX /"),
    ],
)
def test_the_form_of_a_hint_for_a_missing_permission(path, op, hint):
    denied = build_catalog()["io_error"](path=path, op=op, cause="Permission denied")

    assert denied.format_hint() == hint
    assert (
        build_catalog()["io_error"](path=path, op="read", cause="no such file").format_hint()
        is None
    )


LONG = "how long does the dough rest " * 300
LONG_CALLS = {
    "search": ["search", LONG],
    "filter": ["search", "tag:wrok", LONG],
    "tag": ["list", "--tag", LONG],
    "path": ["list", "--path", f"{LONG}/**"],
    "grep": ["grep", "--lang", "xx", "--", LONG[:900]],
    "model": ["ask", LONG],
    "fetch": ["fetch", LONG],
    "folder": ["ingest", LONG],
    "typo": ["search", LONG, "--limt", "3"],
    "cursor": ["search", LONG, "--cursor", "x"],
    "config": ["--config", LONG, "list"],
    "data": ["--data-dir", "/tmp/" + "long name/" * 30, "search", "x"],
}


def iterate_hints(value):
    """Yield every hint and fix of decoded JSON, at any depth."""
    if isinstance(value, dict):
        yield from (value[name] for name in ("hint", "fix") if value.get(name) is not None)
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from iterate_hints(one)


@pytest.mark.parametrize("arguments", LONG_CALLS.values(), ids=LONG_CALLS.keys())
def test_a_hint_is_one_short_line_however_long_the_call_is(arguments, home, kebab):
    ran, text = kebab("--json", *arguments), kebab(*arguments)

    lines = [line for line in (ran.out + ran.err).splitlines() if line]
    hints = [hint for line in lines for hint in iterate_hints(json.loads(line))]
    shown = (text.out + text.err).splitlines()
    hints += [line.partition("hint: ")[2] for line in shown if line.startswith("hint: ")]
    assert [hint for hint in hints if len(hint) > MAX_HINT_CHARS] == []


def test_a_hint_that_the_folder_of_the_index_makes_too_long_is_left_out(home, kebab):
    data = home / ("d" * 100) / ("e" * 100)
    fault = kebab("--data-dir", str(data), "search", "x", "--json").fault

    assert (fault["code"], fault["hint"]) == ("not_indexed", None)


def test_a_question_too_long_for_its_hint_leaves_the_hint_of_the_catalogue(home, kebab):
    fault = kebab("ask", LONG, "--json").fault

    assert fault["code"] == "model_unreachable"
    assert "kebab ask --extractive QUESTION" in fault["hint"]


def break_reviews(home):
    (home / "data" / "kebab" / "reviews.sqlite").write_bytes(b"no database " * 500)


def list_fixes(kebab, *flags):
    """Return the fixes of doctor by check."""
    checks = kebab("doctor", *flags, "--json").reply["checks"]
    return {one["name"]: one["fix"] for one in checks if one["fix"]}


def occupy_data_folder(home):
    (home / "data" / "kebab").rename(home / "moved")
    (home / "data" / "kebab").write_text("mine")


def read_contents(home):
    """Return the contents of all files except the shared memory of SQLite, which readers change."""
    files = (path for path in home.rglob("*") if path.is_file() and path.suffix != ".sqlite-shm")
    return sorted(path.read_bytes() for path in files)


DOCTOR: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "directories": (occupy_data_folder, []),
    "database": (break_database, []),
    "reviews": (break_reviews, []),
    "files": (
        lambda home: (home / "notes" / "work" / "backups.md").write_text("# B\n\nNew.\n"),
        [],
    ),
    "configuration": (lambda home: write_settings(home, "x = 1\n"), []),
}
FORM_OF_DOCTOR = {
    "disk": "a full disk cannot be produced here",
    "writer_lock": "it never fails",
    "log": "it never fails",
    "plugins": "an `export`; tried in tests/unit",
    "integrity": "same fix as `database`",
    "full_text": "same fix as `database`",
    "permissions": "only their owner can decide; tried in tests/unit/doctor",
    "leftovers": "same fix as `database`",
    "vectors": "needs a model; tried in tests/unit/app",
    "pending": "needs a model; tried in tests/unit/app",
    "embedding_version": "needs a model",
    "embedding_files": "needs a network",
    "embedding_probe": "needs a model",
    "language_model": "needs a model server",
    "sources": "tried with the command `source`",
}
"""The checks whose fix is not run here, each with the reason."""


@pytest.mark.parametrize("check", DOCTOR)
def test_a_fix_of_doctor_repairs_what_it_belongs_to(check, home, kebab, shell):
    produce, flags = DOCTOR[check]
    kebab("ingest", "notes")
    produce(home)
    contents = read_contents(home)
    first = list_fixes(kebab, *flags)[check]

    follow_repair(first, shell) if "--fix" in first else shell(first.replace("FOLDER", "notes"))

    assert list_fixes(kebab, *flags).get(check) != first
    if shlex.split(first)[0] != "kebab":
        assert read_contents(home) == contents


def test_every_check_of_doctor_has_its_trial_or_a_reason(home, kebab):
    names = {one["name"] for one in kebab("doctor", "--json").reply["checks"]}

    assert names == DOCTOR.keys() | FORM_OF_DOCTOR.keys()


@pytest.mark.parametrize("flag", ["--config", "--data-dir"])
def test_fixes_and_notes_name_the_place_of_the_call(flag, home, kebab):
    place = home / "it's 한글"
    if flag == "--config":
        place.write_text("")
    given = shlex.join(["kebab", flag, str(place)])

    fixes = list_fixes(kebab, flag, str(place))
    assert [line for line in fixes.values() if line.startswith("kebab ")]
    for line in fixes.values():
        assert not line.startswith("kebab ") or line.startswith(given)
    if flag == "--data-dir":
        assert kebab("search", "x", flag, str(place), "--json").fault["hint"].startswith(given)
    text = kebab("doctor", flag, str(place)).out
    assert given in text
