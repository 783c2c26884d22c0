import json

import pytest

from tools.quality.mix import assign_languages, main


@pytest.fixture
def parallel(tmp_path):
    """Two languages, three documents of two paragraphs, one question on each paragraph."""
    for language in ("en", "es"):
        (tmp_path / language / "docs").mkdir(parents=True)
        rows = []
        for name in "abc":
            text = f"# {name}\n\n{language} one\n\n{language} two\n"
            (tmp_path / language / "docs" / f"{name}.md").write_text(text)
            for line in (3, 5):
                query = f"{language} {name} {line}?"
                place = {"doc": f"{name}.md", "line_start": line, "line_end": line}
                rows.append({"id": f"{name}{line}", "query": query, **place})
        (tmp_path / language / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "en" / "queries-hi.jsonl").write_text('{"id": "a3", "query": "hi a 3?"}')
    return tmp_path


def read_queries(path):
    return [json.loads(line)["query"] for line in path.read_text().splitlines()]


def test_documents_are_taken_in_their_share_of_the_languages():
    found = assign_languages("abcd", {"en": 75, "es": 25})

    assert sorted(found.values()) == ["en", "en", "en", "es"]


def test_a_mixed_set_has_the_questions_of_each_language_on_each_other(parallel, tmp_path):
    out = tmp_path / "out"
    main([str(parallel), str(out), "--share", "en", "60", "--share", "es", "40"])

    assert (out / "docs" / "b.md").read_text().startswith("# b\n\nes one")
    assert read_queries(out / "queries-en-es.jsonl") == ["en b 3?", "en b 5?"]
    assert read_queries(out / "queries-hi-en.jsonl") == ["hi a 3?"]
    assert len(read_queries(out / "queries.jsonl")) == 6


def test_a_set_can_be_cut_short(parallel, tmp_path):
    out = tmp_path / "out"
    arguments = ["--share", "en", "100", "--documents", "1", "--paragraphs", "1"]
    main([str(parallel), str(out), *arguments])

    assert [path.name for path in (out / "docs").iterdir()] == ["a.md"]
    assert read_queries(out / "queries.jsonl") == ["en a 3?"]
