import json

from kebab.config.settings import Settings
from kebab.wire.json_schema import build_schemas


def test_the_build_is_described(kebab):
    assert kebab("schema", "--json").reply["schema_version"] == "schema.v1"
    assert kebab("schema").out.startswith("kebab v")


def test_errors_need_neither_settings_nor_a_knowledge_base(kebab, opened, home):
    ran = kebab("schema", "--errors", "--json", "--config", str(home / "none.toml"))

    assert "not_indexed" in {row["code"] for row in ran.reply["errors"]}
    assert opened[0].settings == Settings()


MOST_BYTES = 6900
"""What an agent reads to learn every command."""


def test_every_command_with_its_flags_is_a_short_read(kebab):
    ran = kebab("schema", "--commands", "--json")
    usages = {usage["usage"].split(" [")[0]: usage["usage"] for usage in ran.reply["commands"]}

    assert len(ran.out.encode()) < MOST_BYTES
    assert {"search", "source list", "model pull"} <= {one.rstrip() for one in usages}
    assert "--mode MODE" in usages["search"]
    assert ran.reply["modes"] == "hybrid|lexical|vector"
    assert "[FILTERS]" in usages["search"]
    assert "[--tag TAG]…" in ran.reply["filters"]


def test_one_schema_is_printed_for_other_programs(kebab):
    document = json.loads(kebab("schema", "search_hit").out)

    assert document == build_schemas()["search_hit.v1"]


def test_an_unknown_schema_gives_the_nearest_names(kebab):
    ran = kebab("schema", "search_respons.v1", "--json")

    assert ran.status == 1
    assert "search_response.v1" in ran.reply["error"]["candidates"]
