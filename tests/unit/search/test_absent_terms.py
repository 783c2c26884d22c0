import pytest

from kebab.core.media import SOURCE
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
        ("CaseSnake", ("CaseSnake",)),
        ("SNAK", ("SNAK",)),
        ("case-snake", ()),
        ("snake_zebra", ("snake_zebra",)),
        ("docs/snake.zebra", ("docs", "snake.zebra")),
        ("v1.2.30 1.2", ()),
        ("30.2.1 1.3", ("30.2.1", "1.3")),
        ("c++", ("c++",)),
        ("caf\u00e9 cafe", ()),
    ],
)
def test_a_compound_is_present_as_a_whole_or_by_its_parts(base, text, absent):
    base.add("a.md", "snake_case 1.2.30 c caf\u00e9")

    assert _find_absent(base, text) == absent


def test_words_of_code_are_english(base):
    base.add("a.c", "buffer->size = limit; scroll();", media=SOURCE)
    base.add("b.c", "void back();", media=SOURCE)

    assert _find_absent(base, "scrollback buffer size limit") == ("scrollback",)


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("스냅샷을 복원하려면", ()),
        ("블록체인을 복원", ("블록체인을",)),
        ("スナップショットとは何ですか", ()),
        ("ビットコインとは何ですか", ("ビットコイン",)),
        ("什么是区块链？恢复快照", ("区块链",)),
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
    assert _find_absent(base, "NOT #ops oil zebra") == ("oil",)


@pytest.mark.parametrize("name", ["Paolo", "paolo", "francesco"])
def test_a_name_with_another_ending_is_absent(base, name):
    base.add("a.md", "Paola and Francesca drive the trucks to the harbour in the morning.")

    assert _find_absent(base, f"{name} trucks") == (name,)


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


ANSWERED = {
    "German": (
        "Bei der Gemeinde wurden vier Bienenvölker registriert; die Versicherungsnummer steht im Ordner.",  # noqa: E501
        "Wie viele Völker muss man bei der Gemeinde registrieren, und welche Versicherung gilt?",
    ),
    "Swedish": (
        "Kommunen registrerade fyra bikupor hos oss under våren.",
        "Hur många kupor har kommunen registrerat hos er?",
    ),
    "Finnish": (
        "Kunta rekisteröi neljä mehiläispesää keväällä.",
        "Kuinka monta mehiläispesää kunta on rekisteröinyt?",
    ),
    "French": (
        "La mairie a enregistré quatre ruches du voisin au printemps.",
        "Combien de ruches sont enregistrées à la mairie chez nos voisins?",
    ),
    "Polish": (
        "Gmina zarejestrowała cztery ule sąsiada wiosną.",
        "Ile ule jest zarejestrowanych w gminie u sąsiadów?",
    ),
    "Turkish": (
        "Belediye ilkbaharda dört kovan kaydetti.",
        "Belediyede kaç kovanın kaydı var?",
    ),
    "Russian": (
        "Весной управа зарегистрировала четыре улья соседа.",
        "Сколько ульев у соседов уже зарегистрированы в управе?",
    ),
    "Arabic": (
        "سجلت البلدية أربع خلايا نحل في الربيع.",
        "كم خلايا نحل سجلتها البلدية في هذا الربيع؟",
    ),
    "Korean": (
        "구청에 벌통 네 개를 등록했다.",
        "구청에는 벌통이 모두 몇 개 등록되어 있나요?",
    ),
    "Japanese": (
        "役所に巣箱を四つ登録した。",
        "役所に巣箱はいくつ登録されていますか。",
    ),
    "Chinese": (
        "春天在政府登记了四个蜂箱。",
        "政府一共登记了多少个蜂箱？",
    ),
}
"""A note in each language and a question that it answers in other forms of its words."""


@pytest.mark.parametrize("language", ANSWERED)
@pytest.mark.parametrize("made_up", ["", "Xylomatix"])
def test_other_forms_and_function_words_are_not_absent_but_names_are(base, language, made_up):
    note, question = ANSWERED[language]
    base.add("a.md", note)

    assert _find_absent(base, f"{question} {made_up}") == ((made_up,) if made_up else ())


KOREAN = "김치는 냉장고에서 한 달 동안 보관할 수 있다. 온도는 4도로 유지한다."


@pytest.mark.parametrize(
    ("note", "question", "absent"),
    [
        (KOREAN, "How long does kimchi keep in the fridge?", ()),
        (KOREAN, "how long does snake_zebra keep kimchi since 1894?", ("snake_zebra", "1894")),
        (
            "The bees are registered in the town hall.",
            "벌은 Xylomatix 어디에 등록하나요?",
            ("Xylomatix",),
        ),
        ("The bees are registered in the town hall.", "Wo werden die Bienen registriert?", ()),
        (
            "The bees are registered in the town hall.",
            "¿Dónde se registran las abejas del barrio?",
            (),
        ),
    ],
    ids=["english", "codes", "korean", "german", "spanish"],
)
def test_across_languages_only_what_is_written_alike_is_absent(base, note, question, absent):
    base.add("a.md", note)

    assert base.engine().search(Query(text=question)).absent_terms == absent


def test_a_compound_of_two_words_that_occur_is_not_absent(base):
    base.add("a.md", "Die Versicherung ist teuer, und der Kranken sind viele.", lang="de")

    assert _find_absent(base, "Was kostet die Krankenversicherung?") == ("kostet",)


def test_rare_words_that_no_hit_of_the_page_has_are_named(base):
    lines = [f"the backup of house {number} runs at night" for number in range(400)]
    base.add("a.md", *lines, "LDAP", "a bandwidth", embed=False)

    page = _search(base, "night LDAP bandwidth zebra", limit=1)
    both = _search(base, "night LDAP bandwidth zebra", limit=2)

    assert [hit.chunk.text for hit in page.hits] == ["LDAP"]
    assert (page.unheld_terms, page.absent_terms) == (("bandwidth",), ("zebra",))
    assert both.unheld_terms == ()


def test_a_word_that_is_a_month_of_another_language_does_not_stand_for_one(base):
    base.add("a.md", "The server was restarted 9 days ago.", embed=False)

    assert _find_absent(base, "9 August") == ("August",)
