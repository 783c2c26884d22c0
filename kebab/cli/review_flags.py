"""Says which flags of `kebab review` exclude or need each other."""

from collections.abc import Collection, Iterator

OTHER_TASKS = ("show_runs", "forget", "explain", "replay")
"""The flags that ask for no review."""

_FORMATS = {"replay": "form"}
"""The flag of the output that goes with a task; `--json` goes with the others."""

_FLAGS = {
    "names": "DOC, PATH or GLOB",
    "form": "`--format`",
    "json": "`--json`",
    "deep": "`--tier deep`",
    "show_runs": "`--runs`",
    **{
        name: f"`--{name.replace('_', '-')}`"
        for name in (
            "apply",
            "cursor",
            "dry_run",
            "explain",
            "forget",
            "model",
            "no_llm",
            "replay",
            "stream",
        )
    },
    "imported": "`--import`",
    "run_id": "`--run-id`",
    "yes": "`--yes`",
}
_EXCLUDING = (
    ("run_id", "names"),
    ("no_llm", "model"),
    ("no_llm", "deep"),
    ("run_id", "imported"),
    ("apply", "form"),
    ("apply", "stream"),
    ("apply", "cursor"),
    ("stream", "form"),
    ("json", "form"),
)
_NEEDING = (("cursor", "run_id"), ("yes", "apply"), ("dry_run", "apply"))


def find_contradictions(given: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with flags that exclude or need each other."""
    given = set(given)
    for name in OTHER_TASKS:
        if name in given and given - {name, _FORMATS.get(name, "json")}:
            yield f"{_FLAGS[name]} goes with no other argument"
    if not given & {"names", "run_id", *OTHER_TASKS}:
        yield "give DOC, PATH or GLOB, or `--run-id`"
    for one, other in _EXCLUDING:
        if {one, other} <= given:
            yield f"{_FLAGS[one]} and {_FLAGS[other]} exclude each other"
    for one, other in _NEEDING:
        if one in given and other not in given:
            yield f"{_FLAGS[one]} goes with {_FLAGS[other]}"
