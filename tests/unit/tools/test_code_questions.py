import json

import pytest

from tools.code_questions import ask_by_description, build_set, find_name, list_comments

PYTHON = '''def close_idle(pool):
    """Close the connections of a pool that were idle for too long.

    More.
    """
    return pool.prune_connections()
'''
GO = "// CloseIdle closes the connections that were idle for too long.\nfunc CloseIdle() {\n}\n"


@pytest.fixture
def asked(tmp_path):
    package = tmp_path / "packages/pool"
    files = {
        "pool/idle.py": PYTHON,
        "pool/use.py": "from pool.idle import close_idle\n\nclose_idle(None)\n",
        "pool/again.py": "import pool.idle\npool.idle.close_idle(1)\n",
        "tests/test_idle.py": "def test_keeps_busy_connections_of_others():\n    close_idle(1)\n",
        "docs/use.md": "# Pool\n\n## Keep connections alive\n\n" + "Text.\n" * 400,
    }
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    build_set(package, tmp_path / "out", 10)
    return tmp_path / "out"


def _read(asked, kind):
    lines = (asked / f"{kind}.jsonl").read_text().splitlines()
    return [(row["query"], row["doc"]) for row in map(json.loads, lines)]


@pytest.mark.parametrize(
    ("kind", "query", "doc"),
    [
        (
            "queries",
            "Close the connections of a pool that were idle for too long",
            "pool/idle.py",
        ),
        ("queries-tests", "keeps busy connections of others", "pool/idle.py"),
        ("queries-symbols", "close_idle", "pool/idle.py"),
        ("queries-docs", "Keep connections alive", "docs/use.md"),
    ],
)
def test_each_kind_of_question_has_its_file(asked, kind, query, doc):
    assert _read(asked, kind) == [(query, doc)]


def test_what_asks_is_deleted_from_the_copy(asked):
    assert "idle for too long" not in (asked / "docs/pool/idle.py").read_text()
    assert "prune_connections" in (asked / "docs/pool/idle.py").read_text()
    assert "alive" not in (asked / "docs/docs/use.md").read_text()


def test_the_comment_above_a_symbol_is_its_documentation():
    ((start, end, text, name),) = list_comments(GO.split("\n"))

    assert (start, end, name) == (0, 1, "CloseIdle")
    assert ask_by_description(text, name) == "closes the connections that were idle for too long"


@pytest.mark.parametrize("text", ["Too short.", "See https://example.org for all the details"])
def test_few_words_and_links_are_no_questions(text):
    assert ask_by_description(text, "x") is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    pub(crate) async fn read_all(&self) {", "read_all"),
        ("func (r *Router) Handle(path string) *Route {", "Handle"),
        ("public static int parse(String text) {", "parse"),
        ("x = 1", None),
    ],
)
def test_a_line_of_code_defines_a_name(line, name):
    assert find_name(line) == name
