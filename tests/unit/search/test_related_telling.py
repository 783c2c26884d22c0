from kebab.search.related import MAX_TERMS, extract_keywords, find_shared_words

FILLING = ["grass", "sun", "cloud", "rain", "wind", "snow", "tree", "leaf", "root", "stem"]


def told(base, *texts):
    return extract_keywords(base.reader(), texts)


def test_frequent_here_and_rare_elsewhere_tells_most(base):
    base.add("a.md", "restic restic restic backup disk")
    base.add("b.md", "restic backup disk")
    for word in FILLING:
        base.add(f"{word}.md", f"backup disk {word}")

    weights = told(base, "restic restic restic backup disk").weights

    assert next(iter(weights)) == "restic"
    assert "backup" not in weights


def test_what_no_other_passage_holds_is_not_asked_for(base):
    base.add("a.md", "unique shared")
    base.add("b.md", "shared")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(told(base, "unique shared").weights) == ["share"]


def test_words_that_only_make_sentences_tell_nothing(base):
    base.add("a.md", "what is the vault and how")
    base.add("b.md", "what is the vault and how")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(told(base, "what is the vault and how").weights) == ["vault"]


def test_the_question_is_bounded_and_holds_no_operators(base):
    text = " ".join(f"term{number}" for number in range(200)) + " NOT AND"
    base.add("a.md", text)
    base.add("b.md", text)
    for word in FILLING:
        base.add(f"{word}.md", word)

    words = told(base, text)

    assert len(words.weights) == MAX_TERMS
    assert words.match.count(" OR ") == MAX_TERMS - 1
    assert words.match.startswith('"')


def test_shared_words_are_written_as_the_neighbour_writes_them(base):
    base.add("a.md", "restoring backups with restic")
    base.add("b.md", "Restored the Backup")
    base.add("c.md", "restic")
    for word in FILLING:
        base.add(f"{word}.md", word)

    found = find_shared_words(told(base, "restoring backups with restic"), ["Restored the Backup"])

    assert sorted(found) == ["Backup", "Restored"]


def test_words_of_scripts_without_blanks_are_not_shown_in_pieces(base):
    base.add("a.md", "쿠버네티스 클러스터를 복원한다")
    base.add("b.md", "쿠버네티스 클러스터의 상태")
    for word in FILLING:
        base.add(f"{word}.md", word)

    found = find_shared_words(
        told(base, "쿠버네티스 클러스터를 복원한다"), ["쿠버네티스 클러스터의 상태"]
    )

    assert sorted(found) == ["쿠버네티스", "클러스터"]


def test_only_tokens_that_a_text_holds_are_within_it(base):
    base.add("a.md", "vault restic")
    base.add("b.md", "vault restic")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(told(base, "vault restic").within("a vault")) == ["vault"]
