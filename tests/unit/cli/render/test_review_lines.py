from kebab.cli.render.review import render_positions
from kebab.review.items import ItemLocator
from tests.fakes.review_pages import item, page, reviewed


def test_a_line_has_the_place_in_characters_the_severity_and_the_rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a, 100%: b.md"
    file.write_text("one\n👩 worng\n", encoding="utf-8")
    document = reviewed(file)
    found = page(document, item(document, 6, 11))

    assert list(render_positions(found, ItemLocator().locate(found))) == [
        "a, 100%: b.md:2:3: error: the word is misspelled [spelling]"
    ]
