import pytest

from kebab.core.queries import Mode, Query

OTHERS = [
    "The garden plan moves to next month because the fence costs more than we thought.",
    "Anna asked about the piano and I promised an answer by Friday at 5.",
    "Nothing urgent about the heating in 2024, only 42 small repairs and a list of 12 parts.",
]


def search(base, query):
    for number, text in enumerate(OTHERS):
        base.add(f"other{number}.md", text, embed=False)
    return base.engine().search(Query(text=query, mode=Mode.LEXICAL, min_confidence="weak"))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Fixed in commit 4be1d77ac0ee91b2 today.", "4be1d77"),
        ("Hydraulik odpowietrzy kaloryfery.", "Kto odpowietrza kaloryfer?"),
        ("Serviste kraliçeyi işaretledim.", "Kraliçe neden işaretlendi?"),
        ("Transfer to DE89370400440532013000 tomorrow.", "DE89 3704 0044 0532 0130 00"),
        ("The card 5500 0000 0000 0004 is blocked.", "5500000000000004"),
        ("The printer has the address 00:1b:44:11:3a:b7 now.", "001b44113ab7"),
        ("Der Betrag ist CHF 98'765.00 netto.", "98765"),
        ("Article 0000815 is sold out.", "815"),
        ("Cena wynosi 3 999,90 zł.", "3999,90"),
        ("The total is 4999.50 EUR.", "4 999,50"),
        ("We shipped v2.10.3-rc1 on Monday.", "2.10.3"),
        ("The stick has 64GB of space.", "64 GB"),
        ("We need Python3.11 for it.", "Python 3.11"),
        ("Runs on Windows 11 now.", "Windows11"),
        ("The data base is locked.", "database"),
        ("Meidän hirsimökissämme oli lämmin.", "mökki"),
        ("Photosynthesis feeds plants.", "photosyn*"),
        ("Die Krankenversicherung wird teurer.", "Versicherung"),
        ("Die Buecher stehen im Regal.", "Bücher"),
        ("Der Müller mahlt.", "Mueller"),
        ("Otišli smo u školu juče.", "школу"),
        ("ذهبت إلى المدرسة أمس.", "المدرسه"),
        ("मेरा फ़ोन टूट गया।", "फोन"),
        ("رقم الغرفة ٣١٧ فقط.", "317"),
        ("Мій п’ятий день.", "пʼятий"),
        ("La instal·lació és nova.", "instal.lació"),
        ("Due on 7 April 2023.", "2023-04-07"),
        ("Abgabe am 9. Dezember 2022 im Büro.", "December 9 2022"),
        ("The game is on 06/23/2021 in town.", "23.6.2021"),
        ("会議は六月九日に開かれます。", "6月9日"),
        ("Row 6F9619FF-8B86-D011-B42D is broken.", "6f9619ff-8b86-d011-b42d"),
        ("The host 10.20.30.40 is up.", "10.20.30"),
        ("We pay 0.00310000 a piece.", "0.0031"),
        ("Hausratversicherung läuft.", "Hausrat-Versicherungen"),
        ("Saunamökillä satoi.", "saunamökki"),
        ("Megvettük a buszjegyeket.", "buszjegy"),
        ("DİYARBAKIR karpuzu tatlı.", "diyarbakır"),
        ("הגיעו החשבונות של המים.", "חשבון"),
        ("Die Werkbank kommt in 2020-W41.", "KW 41 2020"),
        ("Das 4. Quartal 2017 war gut.", "2017-Q4"),
        ("確定申告は令和6年3月15日まで。", "March 15 2024"),
        ("Remont zaczyna się w sierpniu 2018 roku.", "August 2018"),
        ("Внесок сплачено у травні 2019.", "2019-05"),
        ("قرار ما ۱۴ مارس ۲۰۰۳ است.", "2003-03-14"),
        ("Abfahrt ist um 18:20 Uhr.", "18.20 Uhr"),
        ("Der Geschirrspüler tropft.", "Spüler"),
        ("Ђорђе је купио ципеле.", "Djordje"),
        ("Љубиша долази.", "Ljubisa"),
        ("受け付けは２階です。", "2階"),
        ("Ferðin með Guðrúnu er á morgun.", "Gudrunu"),
        ("Version 1.10 and 3 copies, ISBN 9781526622433.", "978-1-5266-2243-3"),
    ],
)
def test_a_word_is_found_in_the_form_in_which_it_is_written(base, text, query):
    base.add("right.md", text, embed=False)

    page = search(base, query)

    assert page.hits[0].chunk.path == "right.md"
    assert page.hits[0].confidence != "weak"
    assert page.absent_terms == ()


def test_a_number_is_not_found_in_one_of_other_places(base):
    base.add("a.md", "We have 42 chairs, 2 eggs and 5 apples.", embed=False)

    assert search(base, "0.042").absent_terms == ("0.042",)
    assert search(base, "2.5").absent_terms == ("2.5",)


def test_a_word_of_the_file_name_is_found(base):
    base.add("meeting acme.md", "# Kickoff\n\nWe cut the budget.", embed=False)

    assert search(base, "acme").hits[0].confidence == "strong"


def test_a_day_comes_before_another_day_of_the_month(base):
    base.add("a.md", "The survey of 20 September 2041.", embed=False)
    base.add("b.md", "A delivery on 14/09/2022 by van.", embed=False)

    assert search(base, "14 September 2022").hits[0].chunk.path == "b.md"


@pytest.mark.parametrize(
    "query", ["what did we say on 6 March", "March 6", "2024-03-06", "2024年3月6日"]
)
def test_a_date_finds_the_file_that_it_names(base, query):
    base.add("2024-03-05.md", "We ate with Berta at the harbour, 1 年 2 月 3 日.", embed=False)
    base.add("2024-03-06.md", "We ate with Carlo at the station.", embed=False)

    assert search(base, query).hits[0].chunk.path == "2024-03-06.md"


def test_an_excluding_not_leaves_passages_out(base):
    base.add("a.md", "The rust language has traits.", embed=False)
    base.add("b.md", "Remove rust with vinegar.", embed=False)

    assert [hit.chunk.path for hit in search(base, "rust NOT language").hits] == ["b.md"]


def test_a_word_of_a_question_is_not_taken_for_a_part_of_another(base):
    base.add("a.md", "Die Krankenversicherung wird teurer.", embed=False)

    assert search(base, "How does the fence use Versicherung?").absent_terms == ("Versicherung",)


def test_words_of_a_long_query_stay_in_question(base):
    text = " ".join(f"pump{number} valve" for number in range(30)) + " zeppelin filesystem"
    base.add("a.md", "The file system has a pump and a valve.", embed=False)

    assert "zeppelin" in search(base, text).absent_terms
