"""Hints become commands for the caller's shell."""

import click
import pytest
from msgspec import to_builtins

from kebab.cli.hints import (
    change_flags,
    complete_hint,
    complete_hints,
    list_flags_with_value,
    repeat_call,
)
from kebab.cli.options import Flags, create_global_options
from kebab.errors.hints import Rerun
from kebab.wire.health import Doctor, DoctorCheck

PARAMS = [
    *create_global_options(),
    click.Argument(["query"], nargs=-1),
    click.Option(["-n", "--limit"], type=int),
    click.Option(["--cursor"]),
    click.Option(["--mode"]),
    click.Option(["--trace"], is_flag=True),
]
BOTH = Flags(config="my settings.toml", data_dir="/k/한글")


@pytest.mark.parametrize(
    ("hint", "complete"),
    [
        ("kebab ingest", "kebab --config c.toml --data-dir /k ingest"),
        (
            "correct it, or use `kebab init --force`",
            "correct it, or use `kebab --config c.toml --data-dir /k init --force`",
        ),
        ("ollama pull m", "ollama pull m"),
        ("start `ollama serve`", "start `ollama serve`"),
        ("kebab search --help", "kebab search --help"),
        ("kebab errors --id 4", "kebab errors --id 4"),
        ("kebab search -- --help", "kebab --config c.toml --data-dir /k search -- --help"),
        ("kebabs are good", "kebabs are good"),
    ],
)
def test_a_command_names_the_settings_and_the_knowledge_base_of_the_call(hint, complete):
    assert complete_hint(hint, Flags(config="c.toml", data_dir="/k")) == complete


def test_every_hint_of_a_reply_is_completed_at_any_depth():
    check = DoctorCheck(
        name="x", status="fail", summary="`kebab ingest`", fix="kebab ingest", duration_ms=1
    )
    doctor = to_builtins(Doctor(ok=False, kebab_version="1", checks=[check]))
    reply = complete_hints(doctor, BOTH)

    fixed = {"fix": complete_hint("kebab ingest", BOTH)}
    assert reply == doctor | {"checks": [doctor["checks"][0] | fixed]}


@pytest.mark.parametrize(
    ("arguments", "rerun", "again"),
    [
        (("search", "a b", "--cursor", "X"), Rerun(drop=("--cursor",)), "kebab search 'a b'"),
        (("search", "--cursor=X", "--", "-a"), Rerun(drop=("--cursor",)), "kebab search -- -a"),
        (
            ("--config", "my c", "--json", "search", "a", "--mode", "vector"),
            Rerun(add=("--mode", "lexical"), drop=("--mode",)),
            "kebab --config 'my c' search a --mode lexical",
        ),
        (
            ("search", "it's 한글", "--output-format", "json", "--", "-x"),
            Rerun(add=("--trace",)),
            "kebab search 'it'\"'\"'s 한글' --trace -- -x",
        ),
        (("search", "-n5", "-n", "3", "a"), Rerun(), "kebab search -n5 -n 3 a"),
        (
            ("search", "a"),
            Rerun(variables=(("KEBAB_X", "60"),)),
            "KEBAB_X=60 kebab search a",
        ),
        (("search", "a"), Rerun(add=("--extractive",)), None),
    ],
)
def test_a_call_is_repeated_with_other_flags(arguments, rerun, again):
    assert repeat_call(arguments, PARAMS, rerun) == again


def test_a_value_that_looks_like_a_flag_is_a_value():
    with_value = list_flags_with_value(PARAMS)

    assert change_flags(("--mode", "--cursor", "x"), drop=["--cursor"], with_value=with_value) == [
        "--mode",
        "--cursor",
        "x",
    ]
