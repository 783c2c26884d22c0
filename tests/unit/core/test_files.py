from kebab.core.files import MAX_EXAMPLES, OcrSettings, SkipCounts, get_suffix


def test_only_the_first_names_of_a_reason_are_stored():
    skips = SkipCounts()

    for number in range(10):
        skips.add("hidden", f".{number}")

    assert skips.by_reason == {"hidden": 10}
    assert skips.examples == {"hidden": [f".{number}" for number in range(MAX_EXAMPLES)]}


def test_merging_adds_counts_and_keeps_few_examples():
    one, two = SkipCounts(), SkipCounts()
    one.add("hidden", ".a")
    for number in range(5):
        two.add("hidden", f".{number}")
    two.add("unsupported", "b.png")
    two.by_extension[".png"] += 1

    one.merge(two)

    assert one.total == 7
    assert one.examples["hidden"] == [".a", ".0", ".1"]
    assert one.by_extension == {".png": 1}


def test_a_suffix_is_lower_case_and_keeps_its_dot():
    assert get_suffix("A.Tar.GZ") == ".gz"


def test_a_file_may_take_as_long_as_twenty_slow_pages():
    assert OcrSettings("eng", 5.0).deadline_s == 100.0
    assert OcrSettings("eng", 0.0).deadline_s == 0.0
