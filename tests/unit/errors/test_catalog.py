import re
from dataclasses import fields
from typing import Any

from kebab.cli.command import COMMANDS
from kebab.config.load import iter_setting_keys
from kebab.errors.catalog import build_catalog
from kebab.errors.hints import DERIVED
from kebab.wire.error import read_explanation

_FIELD = re.compile(r"{(\w+)}")
_ROWS: list[Any] = list(build_catalog().values())


def test_every_row_is_explained_with_an_example_and_what_to_do():
    for row in _ROWS:
        what, *more = read_explanation(row.code).split("\n\n")
        heads = [paragraph.partition(" ")[0] for paragraph in more[-2:]]

        assert len(what.split()) > 2
        assert heads == ["Example:", "What"]
        assert more[-1].startswith("What to do: ")
        assert all(len(paragraph.split()) > 3 for paragraph in more[-2:])
        assert not row.message.endswith(".")


def test_a_template_names_details_and_in_a_hint_also_values_derived_from_them():
    for row in _ROWS:
        details = {field.name for field in fields(row)}

        for wording in row.wordings.values():
            assert {*_FIELD.findall(wording.message)} <= details
            assert {*_FIELD.findall(wording.hint or "")} <= details | DERIVED.keys()


def test_commands_of_an_explanation_exist():
    for row in _ROWS:
        named = re.findall(r"`kebab ([a-z]+)", read_explanation(row.code))

        assert set(named) <= set(COMMANDS)


def test_settings_of_an_explanation_exist():
    for row in _ROWS:
        words = re.findall(r"`([a-z]+(?:\.[a-z_]+)+)`", read_explanation(row.code))
        settings = {
            word
            for word in words
            if word.partition(".")[0] in {key.partition(".")[0] for key in iter_setting_keys()}
        }

        assert settings <= set(iter_setting_keys())


def test_domain_codes_name_one_row_each():
    domains = [row.domain for row in _ROWS]

    assert len(set(domains)) == len(domains)


def test_only_the_form_of_input_from_outside_is_a_fault_of_an_adapters_input():
    """What the network, a disk, a lack of memory, a server or a deadline causes is internal."""
    rows = {row.code: row.canonical for row in _ROWS}
    caused = {"timeout", "io_error", "out_of_memory", "embedding_unavailable", "generic"}
    caused |= {"cluster_unreachable", "model_unreachable", "model_busy", "model_protocol"}

    assert {code for code, one in rows.items() if one == "E_ADAPTER_VALIDATION"} == {
        "client_config_invalid",
        "parse_failed",
    }
    assert {code for code, one in rows.items() if one == "E_INTERNAL_ERROR"} == caused | {
        "model_rejected"
    }
    assert {row.code for row in _ROWS if row.domain == "LLM.TIMEOUT"} == {"timeout"}
