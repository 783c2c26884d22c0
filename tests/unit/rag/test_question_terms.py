import pytest

from kebab.rag.question_terms import (
    MAX_WORDS,
    TermKind,
    extract_question_terms,
    select_asking_sentences,
)

NAME, CODE, NUMBER, WORD = TermKind.NAME, TermKind.CODE, TermKind.NUMBER, TermKind.WORD


def found(question, **options):
    return [(one.text, one.kind) for one in extract_question_terms(question, **options)]


def facts(question, **options):
    return [pair for pair in found(question, **options) if pair[1] is not WORD]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who founded Red Hat in Raleigh?", [("Red Hat", NAME), ("Raleigh", NAME)]),
        ("What is Ada's plan for the NAS?", [("Ada", NAME), ("NAS", NAME)]),
        ("NATO was founded when?", [("NATO", NAME)]),
        ("New York has which mayor?", [("New York", NAME)]),
        ("Restore the backup of 2019", [("2019", NUMBER)]),
        ("in the 16th century at 1,000 m", [("16th", NUMBER), ("1,000", NUMBER)]),
        (
            "is MPEG-3 or v1.2 in my_file.txt",
            [("MPEG-3", CODE), ("v1.2", CODE), ("my_file.txt", CODE)],
        ),
        ("what does --max-pods of kubelet do", [("max-pods", CODE)]),
        ("does useState work in c++", [("useState", CODE), ("c++", CODE)]),
        ("how do i restore a backup", []),
        ("what does 🐛 or → mean in Git", [("Git", NAME)]),
        ("", []),
    ],
)
def test_names_codes_and_numbers_are_told_from_words(question, expected):
    assert facts(question) == expected


def test_plain_words_are_terms_too_but_stop_words_are_not():
    assert found("how do I restore the nightly backup") == [
        ("restore", WORD),
        ("nightly", WORD),
        ("backup", WORD),
    ]


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("How To Restore The Nightly Backup", {}),
        ("WHERE IS THE BACKUP", {}),
        ("wo liegt die Sicherung der Fotos", {"nouns": True}),
    ],
)
def test_capitals_mean_nothing_in_a_title_in_shouting_and_in_german(question, options):
    assert facts(question, **options) == []


def test_a_second_sentence_is_no_sign_of_a_title():
    assert facts("I live in Ghent. When does Ada come?") == [("Ghent", NAME), ("Ada", NAME)]


def test_the_pronoun_i_is_no_sign_of_a_title():
    assert facts("when did I visit Ghent") == [("Ghent", NAME)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("クラウドのバックアップはいつですか", [("クラウド", NAME), ("バックアップ", NAME)]),
        ("kubelet은 어떻게 설정하나요", [("kubelet", NAME)]),
        ("백업은 언제 하나요", []),
        ("2019年に何があったか", [("2019", NUMBER)]),
    ],
)
def test_eastern_questions_have_katakana_latin_words_and_numbers(question, expected):
    assert facts(question) == expected


def test_a_name_is_split_into_its_words():
    (name,) = (one for one in extract_question_terms("who is Ada Lovelace") if one.kind is NAME)

    assert [part.text for part in name.split_words()] == ["Ada", "Lovelace"]
    assert [part.words for part in name.split_words()] == [(("ada",),), (("lovelac",),)]


@pytest.mark.parametrize("separator", [" is ", " "])
def test_of_a_pasted_page_a_limited_number_of_words_is_read(separator):
    terms = extract_question_terms(
        separator.join(f"Name{'abcdefghij'[n % 10]}" for n in range(999))
    )

    assert sum(len(term.words) for term in terms) <= MAX_WORDS


@pytest.mark.parametrize(
    ("question", "asking"),
    [
        ("I use Emacs. How do I restore a backup?", "How do I restore a backup?"),
        ("Who is Ada? And Bob? Thanks.", "Who is Ada? And Bob?"),
        ("I use Emacs. Tell me about v1.2 backups.", "I use Emacs. Tell me about v1.2 backups."),
        ("who is Ada", "who is Ada"),
        ("", ""),
    ],
)
def test_only_the_sentences_with_a_question_mark_ask(question, asking):
    assert select_asking_sentences(question) == asking
