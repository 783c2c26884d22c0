from hashlib import sha256

from kebab.bench.sandbox import build_questions, write_notes


def digest(folder):
    hasher = sha256()
    for path in sorted(folder.rglob("*.md")):
        hasher.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return hasher.hexdigest()


def test_the_same_seed_writes_the_same_files(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_notes(tmp_path / name, 40, seed)

    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_notes_have_the_requested_number_of_sections(tmp_path):
    write_notes(tmp_path, 57, 1)

    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")]
    assert sum(text.count("\n## ") for text in texts) == 57


def test_notes_hold_lists_code_and_korean(tmp_path):
    write_notes(tmp_path, 60, 1)

    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md"))
    assert "\n- " in text
    assert "```python" in text
    assert any("가" <= letter <= "힣" for letter in text)


def test_queries_are_all_different_and_always_the_same():
    questions = build_questions(50, 1)

    assert len(set(questions)) == 50
    assert questions == build_questions(50, 1)
