from kebab.search.related import MAX_KEYWORDS, extract_keywords, find_shared_words

FILLING = ["grass", "sun", "cloud", "rain", "wind", "snow", "tree", "leaf", "root", "stem"]


def _extract(base, *texts):
    return extract_keywords(base.reader(), texts)


def test_a_token_that_is_frequent_here_and_rare_elsewhere_weighs_most(base):
    base.add("a.md", "restic restic restic backup disk")
    base.add("b.md", "restic backup disk")
    for word in FILLING:
        base.add(f"{word}.md", f"backup disk {word}")

    weights = _extract(base, "restic restic restic backup disk").weights

    assert next(iter(weights)) == "restic"
    assert "backup" not in weights


def test_a_token_of_one_passage_is_no_keyword(base):
    base.add("a.md", "unique shared")
    base.add("b.md", "shared")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(_extract(base, "unique shared").weights) == ["share"]


def test_stop_words_are_no_keywords(base):
    base.add("a.md", "what is the vault and how")
    base.add("b.md", "what is the vault and how")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(_extract(base, "what is the vault and how").weights) == ["vault"]


def test_the_match_expression_is_bounded_and_holds_no_operators(base):
    text = " ".join(f"term{number}" for number in range(200)) + " NOT AND"
    base.add("a.md", text)
    base.add("b.md", text)
    for word in FILLING:
        base.add(f"{word}.md", word)

    words = _extract(base, text)
    match = words.build_match_expression()

    assert len(words.weights) == MAX_KEYWORDS
    assert match.count(" OR ") == MAX_KEYWORDS - 1
    assert match.startswith('"')


def test_shared_words_are_written_as_in_the_other_document(base):
    base.add("a.md", "restoring backups with restic")
    base.add("b.md", "Restored the Backup")
    base.add("c.md", "restic")
    for word in FILLING:
        base.add(f"{word}.md", word)

    found = find_shared_words(
        _extract(base, "restoring backups with restic"), ["Restored the Backup"]
    )

    assert sorted(found) == ["Backup", "Restored"]


def test_words_of_dense_scripts_are_not_split(base):
    base.add("a.md", "쿠버네티스 클러스터를 복원한다")
    base.add("b.md", "쿠버네티스 클러스터의 상태")
    for word in FILLING:
        base.add(f"{word}.md", word)

    found = find_shared_words(
        _extract(base, "쿠버네티스 클러스터를 복원한다"), ["쿠버네티스 클러스터의 상태"]
    )

    assert sorted(found) == ["쿠버네티스", "클러스터"]


def test_held_keywords_are_those_of_the_text(base):
    base.add("a.md", "vault restic")
    base.add("b.md", "vault restic")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(_extract(base, "vault restic").select_held("a vault")) == ["vault"]


def test_only_the_thousand_most_frequent_tokens_can_be_keywords(base):
    base.add("a.md", "vault restic")
    base.add("b.md", "vault restic")
    for word in FILLING:
        base.add(f"{word}.md", word)
    frequent = " ".join(f"term{number}" for number in range(999))

    weights = _extract(base, frequent, frequent, "vault restic").weights

    assert list(weights) == ["vault"]


def test_shared_words_are_no_function_words(base):
    texts = (
        "**the** vault (over) all, between others; which? 있습니다",
        "the: vault over all between others which 있습니다",
    )
    base.add("a.md", texts[0])
    base.add("b.md", texts[1])
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert find_shared_words(_extract(base, texts[0]), texts[1:]) == ["vault"]
