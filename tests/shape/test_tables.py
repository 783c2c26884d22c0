"""Whatever a foreign library raises is translated in one table, and each table is complete."""

import ast

import pytest

from tests.shape.libraries import list_own_exceptions
from tests.shape.test_homes import GRAMMARS, HOMES
from tests.shape.tree import ROOT, Module

TABLES = {
    "apsw": (
        "store/sqlite/test_connection_errors.py",
        "test_the_table_holds_every_exception_of_apsw_and_no_other",
    ),
    "charset_normalizer": (
        "parse/test_registry_exceptions.py",
        "test_the_libraries_of_parsers_have_no_exception_that_would_pass",
    ),
    "click": (
        "cli/test_errors.py",
        "test_every_exception_of_click_is_one_of_usage_or_an_ending",
    ),
    "doc2docx": (
        "parse/office/test_old_office.py",
        "test_every_exception_of_the_library_is_one_that_is_caught",
    ),
    "httpx": (
        "llm/test_http_stream_errors.py",
        "test_every_exception_of_httpx_has_its_row_or_is_misuse",
    ),
    "lance_namespace": (
        "store/test_lance_errors.py",
        "test_every_exception_of_the_libraries_has_a_meaning",
    ),
    "lancedb": (
        "store/test_lance_errors.py",
        "test_every_exception_of_the_libraries_has_a_meaning",
    ),
    "msgspec": (
        "wire/test_record.py",
        "test_every_exception_of_the_library_is_one_of_decoding_or_a_misuse",
    ),
    "onnxruntime": (
        "embed/test_onnx_embedder_encoder.py",
        "test_every_exception_of_the_runtime_becomes_the_signal",
    ),
    "pathspec": (
        "source/test_ignore.py",
        "test_every_exception_of_the_library_is_one_that_is_caught_or_of_other_work",
    ),
    "pyarrow": (
        "store/test_lance_errors.py",
        "test_every_exception_of_the_libraries_has_a_meaning",
    ),
    "pyromark": (
        "parse/test_registry_exceptions.py",
        "test_the_libraries_of_parsers_have_no_exception_that_would_pass",
    ),
    "obstore": (
        "store/test_objects.py",
        "test_every_exception_of_the_library_is_translated",
    ),
    "PIL": (
        "llm/test_pictures.py",
        "test_every_exception_of_the_library_is_one_that_is_caught_or_of_other_work",
    ),
    "pypdfium2": (
        "parse/pdf/test_document_parser.py",
        "test_every_exception_of_the_library_is_one_that_is_caught_or_of_other_work",
    ),
    "python_calamine": (
        "parse/office/test_sheets.py",
        "test_every_exception_of_the_library_is_one_that_is_translated",
    ),
    "ray": (
        "cluster/test_ray_data.py",
        "test_every_exception_of_ray_becomes_an_error_with_its_cause",
    ),
    "starlette": (
        "server/test_application.py",
        "test_every_exception_of_the_library_is_answered_or_belongs_to_what_is_not_used",
    ),
    "uvicorn": (
        "server/test_application_run.py",
        "test_every_exception_of_the_library_belongs_to_what_is_not_used",
    ),
    "watchfiles": (
        "server/test_watcher_notifier.py",
        "test_every_exception_of_the_library_is_one_that_is_caught",
    ),
    "yaml": (
        "parse/test_front_matter.py",
        "test_every_exception_of_the_library_is_one_that_is_caught",
    ),
    # Of Python's own library, what everything here rests on.
    "os": (
        "errors/test_system_refusal.py",
        "test_every_exception_of_the_system_is_translated",
    ),
    "builtins": (
        "parse/test_registry_exceptions.py",
        "test_every_exception_of_python_is_listed_or_excluded_for_a_reason",
    ),
    "importlib": (
        "errors/test_system_dependency.py",
        "test_a_broken_library_hints_at_reinstalling",
    ),
    "selectolax": (
        "parse/web/test_html_page_page.py",
        "test_the_only_exception_of_the_library_is_translated",
    ),
}
"""By library, the unit test that fails when it gains an exception without a meaning."""

HARMLESS = {
    "anyio": "its cancellation is that of asyncio, and its streams are closed by their owners",
    "mcp": "what it raises is the answer that it sends to the client",
    "mcp_types": "the package `mcp` answers with what its records refuse",
    "pydantic": "validates for the package `mcp`, which answers with what it refuses",
    "nh3": "raises for options only, which are constants",
    "fastembed": "raises errors of the system and `ValueError`, which are translated",
    "huggingface_hub": "runs in a subprocess, which tells every error in one line",
    "onnx": "runs in a subprocess, which tells every error in one line",
    "frontmatter": "splits texts by our patterns; what loads them raises errors of yaml and json",
    "dochan": "describes every fault in its model; those of its compound files are system errors",
    "markdown_it": "reads any text without an error, and stops at a depth of nesting",
    "numpy": "works on arrays whose shapes and types are ours, checked where they are read",
    "platformdirs": "joins names of folders, and has no exception of its own",
    "prompt_toolkit": "draws our texts and reads keys; the terminal raises errors of the system",
    "py_rust_stemmers": "has no exception of its own; the languages that it is asked for are ours",
    "pygments": "splits any text into tokens; an unknown language is the one exception, and caught",
    "rich": "is handed finished texts, never markup of a file or of a model",
    "stopwordsiso": "looks up lists of words, for languages that it names itself",
    "tokenizers": "has no exception of its own; plain `Exception` is translated",
    "tree_sitter": "has no exception of its own that parsing raises; it accepts any bytes",
    **dict.fromkeys(GRAMMARS, "is a table of a language, and runs nothing"),
}
"""By library, why it cannot raise at a sound caller, or why that stays without a consequence."""


def test_every_library_has_a_table_or_is_harmless_for_a_reason():
    python = {"builtins", "importlib", "os"}

    assert set(TABLES) - python | set(HARMLESS) == {*HOMES, *GRAMMARS}
    assert not set(TABLES) & set(HARMLESS)
    assert all(len(reason.split()) > 4 for reason in HARMLESS.values())


def test_each_table_is_held_complete_by_a_test():
    for file, name in TABLES.values():
        body = Module(ROOT / "tests" / "unit" / file).syntax.body

        assert name in {one.name for one in body if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("library", ["platformdirs", "py_rust_stemmers", "tokenizers"])
def test_a_library_that_is_said_to_have_no_exception_has_none(library):
    own = list_own_exceptions(library)

    assert [kind for kind in own if not issubclass(kind, Warning)] == []
