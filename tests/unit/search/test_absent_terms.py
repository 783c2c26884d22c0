import pytest

from kebab.core.queries import Filters, Mode, Query


def _search(base, text, **given):
    return base.engine().search(Query(text=text, mode=Mode.LEXICAL, **given))


def _find_absent(base, text, **given):
    return _search(base, text, **given).absent_terms


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("embargoes of oil", ()),
        ("Who proclaimed the Embargo?", ("proclaimed",)),
        ("Nixon's oil, (Blockchain)!", ("Nixon's", "Blockchain")),
        ("oil oil zebra zebra", ("zebra",)),
    ],
)
def test_words_that_occur_nowhere_are_reported_as_they_are_written(base, text, absent):
    base.add("a.md", "the oil embargo")

    assert _find_absent(base, text) == absent


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("snakeCase", ()),
        ("snakecase", ()),
        ("case-snake", ()),
        ("snake_zebra", ("snake_zebra",)),
        ("docs/snake.zebra", ("docs", "snake.zebra")),
        ("v1.2.3 1.2", ()),
        ("3.2.1 1.3", ("3.2.1", "1.3")),
        ("c++", ("c++",)),
        ("caf\u00e9 cafe", ()),
    ],
)
def test_a_compound_is_present_as_a_whole_or_by_its_parts(base, text, absent):
    base.add("a.md", "snake_case 1.2.3 c caf\u00e9")

    assert _find_absent(base, text) == absent


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("스냅샷을 복원하려면", ()),
        ("블록체인을 복원", ("블록체인을",)),
        ("スナップショットとは何ですか", ()),
        ("ビットコインとは何ですか", ("ビットコイン",)),
        ("什么是区块链\uff1f恢复快照", ("区块链",)),
        ("りんご", ("りんご",)),
        ("왜 어떻게", ()),
    ],
)
def test_scripts_without_blanks_report_whole_runs(base, text, absent):
    base.add("a.md", "스냅샷으로 시스템 체인 복원하기")
    base.add("b.md", "スナップショットのコイン")
    base.add("c.md", "如何恢复快照")

    assert _find_absent(base, text) == absent


def test_only_what_passes_the_filters_counts(base):
    base.add("a.md", "the oil embargo", tags=["ops"])
    base.add("b.md", "zebra on a lawn")

    assert _find_absent(base, "oil zebra") == ()
    assert _find_absent(base, "oil zebra", filters=Filters(tag=("ops",))) == ("zebra",)
    assert _find_absent(base, "zebra tag:ops") == ("zebra",)


def test_a_word_beyond_the_first_passages_is_looked_up(base):
    for number in range(8):
        base.add(f"{number}.md", f"oil oil {number}", tags=["ops"])
    base.add("late.md", "oil and many other words about the same matter: zebra", tags=["ops"])
    base.add("other.md", "lion")

    found = _search(base, "oil lion zebra", filters=Filters(tag=("ops",)))

    assert found.absent_terms == ("lion",)


def test_a_phrase_that_no_passage_holds_is_absent(base):
    base.add("a.md", "an embargo on oil")

    found = _search(base, 'title:zebra oil "oil embargo" "embargo on"')

    assert found.hits == ()
    assert found.absent_terms == ("title:zebra", "oil embargo")


def test_a_quotation_in_prose_is_absent_though_its_words_are_found(base):
    base.add("a.md", "an embargo on oil")

    found = _search(base, 'What is an "oil embargo"?', prose=True)

    assert len(found.hits) == 1
    assert found.absent_terms == ("oil embargo",)


def test_a_phrase_that_is_found_is_not_looked_up_again(base):
    base.add("a.md", "the oil embargo")

    assert _find_absent(base, '"oil embargo"') == ()
