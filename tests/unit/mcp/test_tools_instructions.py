"""Instructions say what is indexed and how to use the tools, in few words."""

from kebab.mcp.tools import build_instructions, describe_index
from kebab.wire.health import SchemaRequest
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.library import SourceListRequest

MOST_WORDS = 150


def test_they_name_folders_formats_languages_and_tools(caller, notes):
    text = caller.run(build_instructions)

    assert f"2 documents in {notes}" in text
    assert "Markdown 2" in text
    assert "de 1" in text
    for tool in ("search", "read", "grep", "outline", "explain"):
        assert f"`{tool}`" in text
    assert len(text.split()) <= MOST_WORDS


def test_an_empty_index_names_the_command_that_fills_it(empty):
    assert "kebab ingest FOLDER" in empty.run(build_instructions)


def test_changed_files_are_counted(caller, notes):
    (notes / "bread.md").write_text("# Other\n", encoding="utf-8")

    assert "1 file changed since" in caller.run(build_instructions)


def test_many_folders_are_summed_up(caller, tmp_path):
    for number in range(3):
        text = IngestTextRequest(text=b"One more text.", title=f"Text {number}")
        caller.run(lambda kebab, text=text: kebab.run(text))
    reply = caller.run(lambda kebab: kebab.run(SchemaRequest()))
    sources = caller.run(lambda kebab: kebab.run(SourceListRequest())).sources

    first, *_ = describe_index(reply, sources, most=1)

    assert first.endswith("and 1 more.")
