"""Writes a request as a command line, as far as flags can express it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import click
import msgspec

from kebab.app.dispatch import find_command_name
from kebab.cli.command import DefaultGroup, root
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.library import ListRequest
from kebab.wire.operations import OPERATIONS
from kebab.wire.search import SearchRequest

Fields = Mapping[str, Any]


class InexpressibleError(ValueError):
    """No command line means the same as a request; the message says why."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The arguments after `kebab`, and standard input."""

    arguments: tuple[str, ...]
    stdin: bytes = b""


def build_command_line(operation: str, fields: Fields) -> CommandLine:
    """Return the command line that means the same as the fields of a request.

    Raises:
        InexpressibleError: There is none.
    """
    words = find_command_name(operation).split()
    fields = {name: value for name, value in fields.items() if name != "schema_version"}
    given = _REWRITES.get(operation, dict)(fields)
    stdin = given.pop(_STDIN, b"")
    params = _find_params(operation)
    flags: list[str] = []
    places: list[str] = []
    for name in sorted(given.keys() - params.keys()):
        if given[name] != _find_default(operation, name):
            raise InexpressibleError(f"`{name}` has no flag")
    for name, param in params.items():
        if name in given and isinstance(param, click.Option):
            flags += _write_option(param, given[name], _find_default(operation, name))
        elif name in given:
            places += _write_argument(given[name])
    _refuse_special_words(operation, [*flags, *places], places)
    return CommandLine((*words, *flags, *(("--", *places) if places else ())), stdin)


_STDIN = "<stdin>"
"""The name of standard input among rewritten fields."""


@cache
def _find_params(operation: str) -> dict[str, click.Parameter]:
    """Return the parameters of a command by name."""
    command: click.Command = root
    context = click.Context(root)
    for word in find_command_name(operation).split():
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None
        command = found
    if isinstance(command, DefaultGroup):
        command = command.default
    return {str(param.name): param for param in command.params}


def _find_default(operation: str, name: str) -> Any:
    """Return the default of a field, None when it has none."""
    record = SearchRequest if operation == "why" else OPERATIONS[operation].request
    for field in msgspec.structs.fields(record):
        if field.name == name:
            factory = field.default_factory
            made = factory() if callable(factory) else field.default
            return None if made is msgspec.NODEFAULT else made
    return None


def _write_argument(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _write_option(param: click.Option, value: Any, default: Any) -> list[str]:
    flag = max(param.opts, key=len)
    if param.is_flag:
        return _write_switch(param, flag, value)
    if value is None and default is None:
        return []
    if value is None:
        raise InexpressibleError(f"`{flag}` cannot be null")
    values = value if isinstance(value, list) else [value]
    return [f"{flag}={_write_value(one)}" for one in values]


def _write_switch(param: click.Option, flag: str, value: Any) -> list[str]:
    if value is False and param.secondary_opts:
        return [param.secondary_opts[0]]
    return [flag] if value else []


def _write_value(value: Any) -> str:
    if isinstance(value, bool | dict | list):
        raise InexpressibleError(f"no word means {value!r}")
    return str(value)


def _refuse_special_words(operation: str, words: list[str], places: list[str]) -> None:
    """Refuse words that mean something else on a command line.

    Raises:
        InexpressibleError: There is one.
    """
    if operation in ("rm", "fetch", "explain_paths") and not places:
        raise InexpressibleError("the command needs a name")
    if any("\0" in word for word in words):
        raise InexpressibleError("no argument of a process has a NUL")
    if any(word.startswith("--in=") for word in words):
        raise InexpressibleError("`--in` indexes the folder too")
    if operation in ("search", "ask", "fetch") and "-" in places:
        raise InexpressibleError("`-` means standard input")
    if operation == "fetch" and places[:1] and places[0] in ("chunk", "doc", "span"):
        raise InexpressibleError("this word is a subcommand")


def _rewrite_why(fields: dict[str, Any]) -> dict[str, Any]:
    """Put the fields of the search beside the document."""
    search = {name: one for name, one in fields["search"].items() if name != "schema_version"}
    return {"query": "", **search, "name": fields["name"]}


def _rewrite_search(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields.get("query") and fields.get("queries"):
        fields.pop("query", None)
    else:
        fields.setdefault("query", "")
    return fields


def _rewrite_grep(fields: dict[str, Any]) -> dict[str, Any]:
    """Write null as 0, which is how the command line says it."""
    if fields.get("files_only") and fields.get("count_only"):
        raise InexpressibleError("`-l` and `-c` exclude each other")
    if fields.get("max_columns", 400) is None:
        fields["max_columns"] = 0
    elif fields.get("max_columns") == 0:
        raise InexpressibleError("`--max-columns 0` means null")
    return fields


def _rewrite_rank(fields: dict[str, Any]) -> dict[str, Any]:
    lines = fields.pop("lines", [])
    if any("\n" in line for line in lines):
        raise InexpressibleError("a line of standard input has no line break")
    return {**fields, _STDIN: "".join(f"{line}\n" for line in lines).encode()}


def _rewrite_list(fields: dict[str, Any]) -> dict[str, Any]:
    """Say the limit, because the command line lists all documents."""
    fields.setdefault("limit", ListRequest().limit)
    return fields


def _rewrite_outline(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("limit") == 0:
        raise InexpressibleError("`--limit` begins at 1")
    if fields.get("limit", 20) is None:
        fields = {**fields, "all_": True}
        del fields["limit"]
    return fields


def _rewrite_dupes(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("exact") and "threshold" in fields:
        raise InexpressibleError("`--exact` leaves nothing to `--threshold`")
    return fields


def _rewrite_session_rm(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields["names"]:
        raise InexpressibleError("`session rm` needs a name")
    return fields


def _rewrite_ingest_text(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields["title"]:
        raise InexpressibleError("`--title` cannot be empty")
    text = msgspec.convert(fields, IngestTextRequest).text
    del fields["text"]
    return {**fields, "from_stdin": True, _STDIN: text}


def _rewrite_review(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.pop("require_llm", False) != (fields.get("tier") == "deep"):
        raise InexpressibleError("`--tier deep` requires a model, and nothing else does")
    rules = fields.get("rules")
    if rules is not None:
        if any("," in rule or rule != rule.strip() for rule in rules) or not rules:
            raise InexpressibleError("`--rules` separates rules with commas")
        fields["rules"] = ",".join(rules)
    given = {name for name, value in fields.items() if value}
    if not given & {"names", "run_id"} or {"names", "run_id"} <= given:
        raise InexpressibleError("the command takes either names or a run")
    if fields.get("cursor") is not None and "run_id" not in given:
        raise InexpressibleError("`--cursor` goes with `--run-id`")
    if "baseline" in given or given >= {"run_id", "changed"}:
        raise InexpressibleError("a baseline is a file, and a run keeps its changes")
    return _write_given_text(fields)


def _write_given_text(fields: dict[str, Any]) -> dict[str, Any]:
    """Write the text of a review to standard input."""
    text = fields.pop("text", None)
    if text is None:
        return fields
    if len(fields["names"]) != 1 or "\0" in text or text.startswith("\ufeff"):
        raise InexpressibleError("a text on standard input is that of one file")
    if fields.keys() & {"changed", "imported", "run_id"}:
        raise InexpressibleError("`-` excludes other documents")
    name = fields["names"][0]
    return {**fields, "names": ["-"], "stdin_filename": name, _STDIN: text.encode()}


def _rewrite_translate(fields: dict[str, Any]) -> dict[str, Any]:
    given = {name for name, value in fields.items() if value}
    if not given & {"name", "run_id"} or {"name", "run_id"} <= given:
        raise InexpressibleError("the command takes either a name or a run")
    if "name" in given and "to" not in given:
        raise InexpressibleError("DOC goes with `--to`")
    if fields.get("cursor") is not None and "run_id" not in given:
        raise InexpressibleError("`--cursor` goes with `--run-id`")
    return fields


def _rewrite_review_apply(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields["run_id"]:
        raise InexpressibleError("`--run-id` cannot be empty")
    return {**fields, "apply": True, "yes": not fields.get("dry_run", False)}


def _rewrite_review_rm(fields: dict[str, Any]) -> dict[str, Any]:
    runs = fields.pop("runs")
    if not runs:
        raise InexpressibleError("`--forget` needs a run")
    return {**fields, "forget": runs}


def _rewrite_review_rules(fields: dict[str, Any]) -> dict[str, Any]:
    rule = fields.pop("rule", None)
    if rule in ("", "all"):
        raise InexpressibleError("the word means all rules, or is no value")
    return {**fields, "explain": "all" if rule is None else rule}


def _rewrite_removal(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.pop("dry_run", False):
        raise InexpressibleError("`--dry-run` exists for `ingest` only")
    return {**fields, "yes": True}


_REWRITES: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "search": _rewrite_search,
    "why": _rewrite_why,
    "grep": _rewrite_grep,
    "rank": _rewrite_rank,
    "list": _rewrite_list,
    "outline": _rewrite_outline,
    "dupes": _rewrite_dupes,
    "session_rm": _rewrite_session_rm,
    "ingest_text": _rewrite_ingest_text,
    "review": _rewrite_review,
    "translate": _rewrite_translate,
    "review_apply": _rewrite_review_apply,
    "review_rm": _rewrite_review_rm,
    "review_rules": _rewrite_review_rules,
    "review_runs": lambda fields: {**fields, "show_runs": True},
    "explain_paths": lambda fields: {**fields, "explain": True},
    "import": lambda fields: {**fields, "yes": True},
    "source_rm": _rewrite_removal,
    "reset": _rewrite_removal,
    "repair": lambda fields: {**fields, "fix": True, "yes": not fields.get("dry_run", False)},
    "explain": lambda fields: fields if fields.get("code") is not None else {"all_codes": True},
}
"""How a request differs from the flags of its command."""
