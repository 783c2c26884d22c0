"""Whatever is declared is also registered, so that a forgotten step of a recipe has a name."""

import ast
import dataclasses
import json
import re

from kebab.cli.command import COMMANDS
from kebab.cli.commands.search import command as search_command
from kebab.core.files import NAMED
from kebab.core.media import ENEX_NOTE, MEDIA_TYPES
from kebab.core.queries import FILTERS, Filters, Query
from kebab.doctor import checks
from kebab.embed import registry as models
from kebab.parse.registry import PARSERS
from kebab.search import names, reordering, rerank
from kebab.source.walk import detect_file_media
from kebab.store.sqlite.fts import CONDITIONS
from kebab.wire.search import FilteredRequest, SearchRequest
from tests.shape.tree import ROOT, list_modules

BOOSTS = ROOT / "kebab" / "search" / "ranking.py"


def list_boost_reasons():
    """Return the names of the boosts that `apply_boosts` adds."""
    tree = ast.parse(BOOSTS.read_text(encoding="utf-8"))
    (apply,) = [one for one in tree.body if getattr(one, "name", None) == "apply_boosts"]
    stored = [
        one.slice
        for one in ast.walk(apply)
        if isinstance(one, ast.Subscript) and ast.unparse(one.value) == "boosts"
    ]
    return {one.value for one in stored if isinstance(one, ast.Constant)}


def test_every_command_module_is_in_the_table_of_commands():
    names = {module.path.stem for module in list_modules("kebab/cli/commands")} - {"__init__"}

    assert {name.rstrip("_") for name in names} == set(COMMANDS)


def test_every_filter_has_a_field_a_condition_and_a_flag():
    asked = set(FilteredRequest.__struct_fields__) - {"base"}  # it chooses where to search
    flags = {name for param in search_command.params for name in param.opts}

    assert asked == set(FILTERS)
    assert {one.name for one in dataclasses.fields(Filters) if one.compare} == set(FILTERS)
    assert set(CONDITIONS) == set(FILTERS)
    assert {row.flag for row in FILTERS.values()} <= flags


def test_every_field_of_a_search_is_one_of_its_query_and_a_flag():
    own = set(SearchRequest.__struct_fields__) - set(FilteredRequest.__struct_fields__)
    asked = own - {"query", "queries", "cursor"}  # the page of some texts

    assert asked <= {one.name for one in dataclasses.fields(Query)}
    assert asked <= {param.name for param in search_command.params}


def test_every_media_type_has_suffixes_and_a_parser():
    assert {media.name for media in MEDIA_TYPES} == set(PARSERS)
    unnamed = {media.name for media in MEDIA_TYPES if not (media.suffixes or media.names)}
    # A member of an export, and what is not read.
    assert unnamed == {ENEX_NOTE, *NAMED.values()}


def test_every_embedding_model_is_in_the_registry():
    declared = [one for one in vars(models).values() if isinstance(one, models.EmbeddingModel)]

    assert {one.key for one in declared} == {one.key for one in models.MODELS}


def test_every_boost_is_explained_in_the_schema_of_a_hit():
    path = ROOT / "docs/wire-schema/v1/search_hit.v1.schema.json"
    forms = [one["properties"] for one in json.loads(path.read_text())["$defs"].values()]
    (reason,) = [form["reason"] for form in forms if form.keys() == {"reason", "value"}]
    explained = set(re.findall(r"`(\w+)`: ", " ".join(reason["description"].split())))

    moves = {reordering.BARE, reordering.CODE, reordering.DOCUMENTS, reordering.SECTION}
    assert list_boost_reasons() | moves | {names.NAME, rerank.NAME, rerank.NEAREST} == explained


def test_every_parser_has_a_real_file_among_the_samples():
    files = [one for one in (ROOT / "samples" / "formats").rglob("*") if one.is_file()]
    media = {detect_file_media(str(one), one.stat().st_size) for one in files}
    read = {parser.version for name, parser in PARSERS.items() if name in media}
    # A note is a member of an export, and nothing of a file is read that its name alone finds.
    without = {PARSERS[one].version for one in (ENEX_NOTE, *NAMED.values())}

    assert {parser.version for parser in PARSERS.values()} - without == read - without


def test_every_check_of_doctor_is_run():
    declared = {name for name in vars(checks) if name.startswith("check_")}
    connected = (ROOT / "kebab/app/doctor.py").read_text(encoding="utf-8")

    assert declared == set(re.findall(r"checks\.(check_\w+)", connected))
