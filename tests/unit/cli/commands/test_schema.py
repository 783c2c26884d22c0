import json
import re

from kebab.wire.json_schema import build_schemas

MOST_BYTES = 5700
"""What an agent reads to learn every command."""


def test_every_command_with_its_flags_is_a_short_read(kebab):
    ran = kebab("schema", "--commands", "--json")
    usages = {
        re.split(r" [-\[A-Z]", usage["usage"])[0]: usage["usage"] for usage in ran.reply["commands"]
    }

    assert len(ran.out.encode()) < MOST_BYTES
    assert {"search", "source list", "model pull"} <= {one.rstrip() for one in usages}
    assert "--mode MODE" in usages["search"]
    assert "--sort relevance|newest|oldest" in usages["search"]
    assert ran.reply["modes"] == "hybrid|lexical|vector"
    assert "[FILTERS]" in usages["search"]
    assert "--tag TAG…" in ran.reply["filters"]


def test_one_schema_is_printed_for_other_programs(kebab):
    document = json.loads(kebab("schema", "search_hit").out)

    assert document == build_schemas()["search_hit.v1"]


def test_what_an_agent_reads_with_is_one_kilobyte(kebab):
    text = kebab("schema", "--commands", "--for", "agents").out

    assert len(text.encode()) <= 1024
    assert [line.split()[0] for line in text.splitlines()[:5]] == [
        *("search", "list", "fetch", "grep", "outline"),
    ]
    assert kebab("schema", "--for", "agents").status == 2
