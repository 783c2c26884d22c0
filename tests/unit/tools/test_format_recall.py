from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from tools.format_recall import (
    FileResult,
    compare_file,
    count_right_places,
    format_row,
    list_words,
    measure_overlap,
    read_between_tags,
)


def test_recall_counts_repeated_words_and_order_counts_neighbours():
    ours, reference = list_words("Oil and oil, lamp"), list_words("oil OIL lamp lamp")

    assert measure_overlap(ours, reference) == (3 / 4, 1 / 3)


def test_a_place_is_right_only_when_the_reference_has_its_words_there():
    document = ParsedDocument(
        "# Slide 1\n\nlamp\n\noil\n", "t", (), places=(Place(0, 1), Place(17, 2))
    )

    assert count_right_places(document, "pptx", {"1": "lamp", "2": "lamp"}) == (2, 1)


def test_a_refused_file_is_counted_with_its_cause(tmp_path):
    path = tmp_path / "a.epub"
    path.write_bytes(b"no archive")

    result = compare_file("epub", "application/epub+zip", str(path))

    assert result.failure
    assert format_row("epub", [result, FileResult("b", "", 4, 0.0, "", 0.5, 0.25)]).startswith(
        "| epub | 1 | 0 | 1 | 1 | 0.500 | 0.250 |"
    )


def test_the_text_between_tags_is_that_of_the_body():
    page = b"<head><title>t</title></head><nav>menu</nav><p>oil&amp;lamp<script>x</script>"

    assert list_words(read_between_tags(page)) == ["menu", "oil", "lamp"]
