import gzip
import zlib
from collections import Counter

from kebab.review.rules.near_words import read_words
from tools.near_words import LIST, count_folders, read_list, select_frequent, select_right


def test_a_list_gives_words_and_the_parts_of_names(tmp_path):
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text("!forbidden\nreadFile # a comment\nstruct\n", "utf-8")
    packed.write_bytes(gzip.compress(b"upsert\n"))

    assert set(read_list(plain)) == {"readfile", "read", "file", "struct"}
    assert set(read_list(packed)) == {"upsert"}


def test_words_are_counted_once_for_each_project(tmp_path):
    for name, text in (("a", "the kernel and `other` kernel"), ("b", "kernel/path of a kernel")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(text, "utf-8")

    assert count_folders([tmp_path / "a", tmp_path / "b"]) == Counter({"kernel": 2})


def test_frequent_words_are_known_and_no_misspellings():
    counts = Counter({"kernel": 9, "recieve": 9, "zxcvbn": 9, "rare": 1})

    assert select_frequent(counts, {"kernel", "recieve", "rare"}) == ["kernel"]


def test_only_words_that_look_like_a_slip_are_kept():
    assert select_right({"foudation", "xqzwvkj"}, ()) == ["foudation"]


def test_the_list_in_use_was_packed_by_the_tool():
    lines = b"\n".join(b" ".join(words) for words in read_words())

    assert zlib.compress(lines, 9) == LIST.read_bytes()
