from hashlib import sha256

from kebab.bench.corpus import (
    mixed_texts,
    queries,
    write_long_note,
    write_notes,
    write_pages,
    write_texts,
)


def digest(folder):
    told = sha256()
    for path in sorted(folder.rglob("*.md")):
        told.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return told.hexdigest()


def test_the_same_seed_writes_the_same_files(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_notes(tmp_path / name, 40, seed)

    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_notes_have_as_many_sections_as_were_asked_for(tmp_path):
    write_notes(tmp_path, 57, 1)

    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")]
    assert sum(text.count("\n## ") for text in texts) == 57


def test_notes_hold_lists_code_and_korean(tmp_path):
    write_notes(tmp_path, 60, 1)

    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md"))
    assert "\n- " in text
    assert "```python" in text
    assert any("\uac00" <= letter <= "\ud7a3" for letter in text)


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


def test_queries_are_all_different_and_always_the_same():
    asked = queries(50, 1)

    assert len(set(asked)) == 50
    assert asked == queries(50, 1)


def test_mixed_texts_differ_much_in_length_and_come_in_no_order():
    lengths = [len(text.split()) for text in mixed_texts(64, 1)]

    assert max(lengths) > 8 * min(lengths)
    assert lengths not in (sorted(lengths), sorted(lengths, reverse=True))
    assert mixed_texts(64, 1) == mixed_texts(64, 1)
