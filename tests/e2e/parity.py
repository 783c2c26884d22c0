"""The requests of the parity test, and the home in which every surface answers them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from kebab.app.request_defaults import decode_operation_request
from kebab.config.settings import Settings
from kebab.embed import install
from kebab.embed.registry import MODELS
from kebab.errors.catalog import InvalidInput
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import encode_json
from tests.examples import REQUESTS
from tests.fakes import tiny_model
from tools.surfaces.clients import Result, Surface
from tools.surfaces.command_lines import CommandLine
from tools.surfaces.home import Home

DOC = "work/backups.md"
PLAIN = "how do I restore a backup"
DEEP = b"[" * 10_000
HUGE = "restore " * 30_000


@dataclass(frozen=True, slots=True)
class Case:
    """A request, and the command line that means the same where flags do not follow from it."""

    body: Mapping[str, Any] | bytes
    words: tuple[str, ...] | None = None
    stdin: bytes = b""

    @property
    def raw(self) -> bytes:
        """The body as bytes."""
        return self.body if isinstance(self.body, bytes) else msgspec.json.encode(self.body)

    @property
    def line(self) -> CommandLine | None:
        """The command line, None when it follows from the request."""
        return None if self.words is None else CommandLine(self.words, self.stdin)


def case(body: Mapping[str, Any] | bytes, *words: str, stdin: bytes = b"") -> Case:
    """Return a case."""
    return Case(body, words or None, stdin)


SHARED: Sequence[Case] = (
    case(b"{"),
    case(b"null"),
    case(b"[]"),
    case(b"\xff"),
    case(DEEP),
    case(b'{"unknown_field": 1}'),
    case(b'{"schema_version": "error.v1"}'),
    case(b'{"schema_version": 7}'),
)
"""Bodies that no operation takes; a command line cannot even express them."""

FILTERS: Sequence[Mapping[str, Any]] = (
    {"tag": ["ops"]},
    {"tag": ["none"]},
    {"lang": ["ko"], "media": ["markdown"]},
    {"path_glob": "work/**", "since": "2001-01-01"},
    {"doc_id": DOC},
    {"doc_id": "nowhere"},
    {"folder": "{NOTES}/work"},
    {"links_to": "nowhere"},
    {"since": "whenever"},
)

NAMES: Sequence[str] = ("", "nowhere", "../../etc/passwd", "a\nb", "\0", "work", "0", "x" * 5_000)
"""Names of nothing."""

CASES: Mapping[str, Sequence[Case]] = {
    "search": [
        case({"query": PLAIN}),
        case({"query": "restore", "limit": 1, "trace": True, "mode": "lexical"}),
        case({"query": "restore", "mode": "vector", "detail": "passages"}),
        case({"query": "restore", "limit": 1, "cursor": "{CURSOR}"}),
        case({"query": "garden", "limit": 1, "cursor": "{CURSOR}"}),
        case({"query": "restore", "limit": 1, "page": 2}),
        case({"query": "restore", "max_tokens": 1, "snippet_chars": 20}),
        case({"queries": ["restore", "garden"], "per_doc": 1}),
        case({"query": "restore", "queries": [""]}),
        case({"query": "백업", "detail": "ids", "rerank": False}),
        case({"query": "qqqqqqqq", "mode": "lexical", "min_confidence": "strong"}),
        *(case({"query": "restore", "mode": "lexical", **one}) for one in FILTERS),
        case({"query": ""}),
        case({}),
        case({"query": HUGE}),
        case({"query": "x" * 1_000_001}),
        case({"query": "\0"}),
        case(b'{"query": "\\ud800"}'),
        case({"query": "x", "cursor": "forged"}),
        case({"query": "x", "limit": 0}, "search", "x", "--limit", "0"),
        case({"query": "x", "limit": 1001}, "search", "x", "--limit", "1001"),
        case({"query": "x", "limit": "many"}, "search", "x", "--limit", "many"),
        case({"query": "x", "mode": "telepathy"}, "search", "x", "--mode", "telepathy"),
        case({"query": "x", "tag": "ops"}),
        case({"query": "x", "colour": "red"}, "search", "x", "--colour", "red"),
    ],
    "grep": [
        case({"pattern": "restore"}),
        case({"pattern": "RESTORE", "ignore_case": True, "files_only": True, "paths": ["work"]}),
        case({"pattern": "restore", "before": 1, "after": 2, "max_columns": None, "limit": 2}),
        case({"pattern": "a[0]", "fixed": True}),
        case({"pattern": "qqqqqqqq"}),
        case({"pattern": "(a+)+$"}),
        case({"pattern": "a("}),
        case({"pattern": ""}),
        case({"pattern": "\0"}),
        case({"pattern": "restore", "max_columns": 5}),
        case({"pattern": "x", "limit": 0}, "grep", "x", "--limit", "0"),
        *(case({"pattern": "e", "limit": 3, **one}) for one in FILTERS),
        case({}, "grep"),
    ],
    "ask": [
        case({"question": PLAIN, "extractive": True}),
        case({"question": "qqqqqqqq", "extractive": True, "mode": "lexical"}),
        case({"question": PLAIN, "extractive": True, "limit": 2, "rerank": False}),
        case({"question": PLAIN, "model": "some:model"}),
        case({"question": "", "extractive": True}),
        case({"question": "x", "extractive": True, "since": "whenever"}),
        case({"question": PLAIN, "extractive": True, "session": "a\nb"}),
        case({}),
        case({"question": "x", "limit": 101}, "ask", "x", "--limit", "101"),
    ],
    "related": [
        case({"name": DOC}),
        case({"name": DOC, "limit": 1, "tag": ["none"]}),
        case({"name": DOC, "since": "whenever"}),
        *(case({"name": name}) for name in NAMES),
        case({"name": DOC, "limit": 1001}, "related", DOC, "--limit", "1001"),
        case({}, "related"),
    ],
    "dupes": [
        case({}),
        case({"exact": True, "limit": 1}),
        case({"threshold": 0.5, "tag": ["none"]}),
        case({"cursor": "forged"}),
        case({"threshold": 0.4}, "dupes", "--threshold", "0.4"),
        case({"threshold": "many"}, "dupes", "--threshold", "many"),
    ],
    "list": [
        case({}),
        case({"limit": None}),
        case({"limit": 2, "offset": 1, "sort": "size", "reverse": True}),
        case({"offset": 2**31}),
        *(case(one) for one in FILTERS),
        case({"limit": 0}, "list", "--limit", "0"),
        case({"sort": "colour"}, "list", "--sort", "colour"),
    ],
    "inspect_doc": [
        case({"name": DOC}),
        case({"name": "{DOC_ID}"}),
        *(case({"name": name}) for name in NAMES),
        case({"name": None}),
        case({}, "inspect", "doc"),
    ],
    "inspect_chunk": [
        case({"name": "{CHUNK}"}),
        *(case({"name": name}) for name in NAMES),
        case({}, "inspect", "chunk"),
    ],
    "outline": [
        case({}),
        case({"name": DOC, "depth": 1}),
        case({"name": "work", "limit": 1}),
        case({"limit": None, "depth": 9}),
        case({"limit": 0}),
        *(case({"name": name}) for name in NAMES),
        case({"depth": 0}, "outline", "--depth", "0"),
    ],
    "fetch": [
        case({"refs": [f"{DOC}#L2-L4", "{CHUNK}"], "section": True}),
        case({"refs": [f"{DOC}:2", "nowhere"], "max_tokens": 5, "context": 1}),
        case({"refs": [f"{DOC}:99999", f"{DOC}:0", f"{DOC}#L9-L2", f"{DOC}#no-such-heading"]}),
        case({"refs": [DOC] * 50, "max_tokens": 100}),
        case({"refs": [*NAMES]}),
        case({"refs": [name for name in NAMES if "\0" not in name]}),
        case({"refs": []}),
        case({"refs": [7]}),
        case({"refs": [DOC], "context": -1}, "fetch", DOC, "--context", "-1"),
    ],
    "fetch_chunk": [
        case({"name": "{CHUNK}", "context": 2}),
        case({"name": "{CHUNK}", "max_chars": 5}),
        *(case({"name": name}) for name in NAMES),
        case({"name": "x", "max_chars": 0}, "fetch", "chunk", "x", "--max-chars", "0"),
    ],
    "fetch_doc": [
        case({"name": DOC}),
        case({"name": DOC, "max_chars": 20}),
        *(case({"name": name}) for name in NAMES),
    ],
    "fetch_span": [
        case({"name": DOC, "start": 2, "end": 4}),
        case({"name": DOC, "start": 4, "end": 2}),
        case({"name": DOC, "start": 99_999}),
        case({"name": DOC, "start": 3, "context": 2**31}),
        *(case({"name": name, "start": 1}) for name in NAMES),
        case({"name": DOC, "start": 0}, "fetch", "span", DOC, "0"),
        case({"name": DOC, "start": "two"}, "fetch", "span", DOC, "two"),
    ],
    "session_list": [case({}), case(b"")],
    "session_show": [case({"name": "talk"}), *(case({"name": name}) for name in NAMES)],
    "session_rm": [
        case({"names": ["talk"]}),
        case({"names": ["talk", "nowhere"]}),
        case({"names": ["a\nb"]}),
        case({"names": []}),
        case({"names": "talk"}),
    ],
    "ingest": [
        case({"paths": ["{NOTES}"]}),
        case({"paths": ["{NOTES}/work"], "force": True}),
        case({"paths": ["{NOTES}"], "dry_run": True}),
        case({"paths": []}),
        case({"paths": ["{NOTES}/nowhere"]}),
        case({"paths": ["{HOME}/cases.bin"]}),
        case({"paths": ["\0"]}),
        case({"paths": [""]}),
        case({"vector_seconds": 0}),
        case({"vector_seconds": -1}),
        case({"paths": "notes"}),
    ],
    "ingest_text": [
        case({"text": "VGVhIGJyZXdzIDMgbWludXRlcy4K", "title": "Tea"}),
        case({"text": "", "title": "Nothing", "dry_run": True}),
        case({"text": "/////w==", "title": "Bytes", "source_uri": "https://example.org/x"}),
        case({"text": "not base64!", "title": "T"}),
        case({"text": "VGVh", "title": ""}),
        case({"text": "VGVh"}, "ingest", "--stdin"),
    ],
    "explain_paths": [
        case({"paths": ["{NOTES}", f"{{NOTES}}/{DOC}", "{NOTES}/nowhere", "{HOME}/cases.bin"]}),
        case({"paths": ["\0", ""]}),
        case({"paths": ["~no-such-user", "{NOTES}/a\0b/c"]}),
        case({"paths": [""]}),
        case({"paths": []}, "ingest", "--explain"),
    ],
    "rm": [
        case({"names": [DOC]}),
        case({"names": [DOC, "nowhere"]}),
        case({"names": []}),
        case({"names": ["\0"]}),
        case({}, "rm"),
    ],
    "source_list": [case({}), case(b"  ")],
    "source_rm": [
        case({"name": "notes"}),
        case({"name": "notes", "dry_run": True}),
        case({"name": "stdin"}),
        *(case({"name": name}) for name in NAMES),
        case({}, "source", "rm"),
    ],
    "reset": [
        case({}),
        case({"models": True}),
        case({"dry_run": True}),
        case({"models": "all"}),
    ],
    "init": [
        case({}),
        case({"force": True, "workspace": "{NOTES}"}),
        case({"workspace": "{NOTES}/nowhere", "force": True}),
        case({"workspace": "a\0b", "force": True}),
        case({"workspace": "~no-such-user", "force": True}),
        case({"force": "yes"}),
    ],
    "model_list": [case({})],
    "model_pull": [
        case({}),
        case({"name": "all-minilm-l6-v2"}),
        case({"name": "nowhere"}),
        case({"name": ""}),
    ],
    "model_use": [
        case({"name": "all-minilm-l6-v2"}),
        case({"name": "multilingual-e5-small"}),
        case({"name": "nowhere"}),
        case({}, "model", "use"),
    ],
    "doctor": [case({})],
    "review": [
        case({"names": [DOC], "no_llm": True}),
        case({"names": [DOC], "no_llm": True, "limit": 1, "fail_on": "never"}),
        case({"names": [DOC], "no_llm": True, "rules": ["repeated-word", "todo"]}),
        case({"names": [DOC], "no_llm": True, "rules": ["nonsense"]}),
        case({"names": [DOC, "nowhere"], "no_llm": True}),
        case({"names": ["nowhere-at-all"], "no_llm": True}),
        case({"names": ["**/*.nothing"], "no_llm": True}),
        case({"run_id": "nowhere", "no_llm": True}),
        case({"run_id": "nowhere", "cursor": "forged"}),
        case({"names": [DOC], "no_llm": True, "changed": "no-such-revision"}),
        case({"names": ["new.md"], "no_llm": True, "text": "See the the end.\n"}),
        case({"names": ["new.py"], "no_llm": True, "text": "x"}),
        case({"names": [DOC], "limit": 0}, "review", DOC, "--limit", "0"),
        case({"names": [DOC], "tier": "slow"}, "review", DOC, "--tier", "slow"),
    ],
    "review_runs": [case({})],
    "review_rm": [case({"runs": ["nowhere"]}), case({"runs": []}), case({"runs": "a"})],
    "review_apply": [
        case({"run_id": "nowhere"}),
        case({"run_id": "nowhere", "dry_run": True}),
        case({"run_id": "nowhere", "unsafe": True, "dry_run": True}),
        case({"run_id": 7}),
    ],
    "review_rules": [
        case({}),
        case({"rule": "repeated-word"}),
        case({"rule": "repeated-wrd"}),
        case({"rule": 7}),
    ],
    "translate": [
        case({"name": "nowhere-at-all", "to": "ko"}),
        case({"name": DOC, "to": "en"}),
        case({"name": DOC, "to": "Korean text"}),
        case({"name": "work", "to": "ko"}),
        case({"run_id": "nowhere"}),
        case({"run_id": "nowhere", "cursor": "forged"}),
        case({"name": DOC, "to": "ko", "limit": 0}, "translate", DOC, "--to", "ko", "-n", "0"),
        case({"name": DOC, "to": "ko", "tier": "x"}, "translate", DOC, "--to", "ko", "--tier", "x"),
    ],
    "schema": [case({})],
    "stats": [
        case({}),
        case({"since": "2001-01-01"}),
        case({"since": None}),
        case({"since": "whenever"}),
        case({"since": 7}),
    ],
    "errors": [
        case({}),
        case({"by": "kind", "limit": 1, "since": "2001-01-01"}),
        case({"since": "whenever"}),
        case({"by": "colour"}, "errors", "--by", "colour"),
        case({"limit": 0}, "errors", "--limit", "0"),
    ],
    "inspect_error": [
        case({"name": "{ERROR_ID}"}),
        case({"name": "nowhere"}),
        case({"name": ""}),
        case({"name": "\0"}),
    ],
    "explain": [
        case({"code": "timeout"}),
        case({"code": None}),
        case({"code": "nowhere"}),
        case({"code": ""}),
        case({"code": 7}),
    ],
}
"""The requests by operation: valid, broken and hostile ones; by default that of its example."""

CHANGING = {
    *(name for name, one in OPERATIONS.items() if one.effect != "reads"),
    "errors",
    "inspect_error",
}
"""Operations that each answer to the same state: they change it, or read the log of errors."""


def list_cases(operation: str) -> list[Case]:
    """Return every case of an operation."""
    return [*(CASES.get(operation) or [case(encode_json(REQUESTS[operation]))]), *SHARED]


def breaks_schema(operation: str, one: Case) -> bool:
    """Return whether a request is refused before its operation runs."""
    try:
        decode_operation_request(operation, one.raw, Settings())
    except InvalidInput:
        return True
    return False


class World(Home):
    """A home in which every case finds the state that it expects."""

    def fill(self, one: Case) -> Case:
        """Return a case with the words of this home."""
        raw = one.raw
        for name, word in self.words.items():
            raw = raw.replace(f"{{{name}}}".encode(), word.encode())
        return Case(raw, one.words, one.stdin)

    def ask(self, surface: Surface, operation: str, one: Case) -> Result:
        """Return the answer of a surface to a case, in the state that was kept."""
        if operation in CHANGING:
            self.restore()
        return surface.ask(operation, self.fill(one).raw)

    def restore(self) -> None:
        """Put the state and the models back."""
        super().restore()
        for model in MODELS:
            if not install.find_intact(model, self.folder / "models"):
                tiny_model.install_model(model, self.folder / "models")
