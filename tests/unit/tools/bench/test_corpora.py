from tools.bench.corpora import write_long_note, write_pages, write_texts


def test_what_was_written_is_counted(tmp_path):
    corpus = write_pages(tmp_path, 450, 1)

    files = list(tmp_path.rglob("*.md"))
    assert corpus.files == len(files) == 450
    assert corpus.size == sum(path.stat().st_size for path in files)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_page_has_the_length_of_a_page(tmp_path):
    corpus = write_pages(tmp_path, 100, 1)

    assert 3_000 < corpus.size / corpus.files < 5_000


def test_texts_are_the_pages_without_their_markup(tmp_path):
    pages = write_pages(tmp_path / "pages", 30, 1)
    texts = write_texts(tmp_path / "texts", 30, 1)

    read = [path.read_text(encoding="utf-8") for path in sorted(texts.folder.rglob("*.txt"))]
    assert len(read) == texts.files == pages.files
    assert not any(sign in "".join(read) for sign in ("```", "\n#", "\n- ", "---", "title:"))
    assert 0.9 * pages.size < texts.size < pages.size
    assert all("\n\n" in text for text in read)


def test_a_long_note_is_one_file_of_the_wanted_size(tmp_path):
    corpus = write_long_note(tmp_path, 50_000, 1)

    assert corpus.files == 1
    assert 50_000 <= corpus.size < 55_000
