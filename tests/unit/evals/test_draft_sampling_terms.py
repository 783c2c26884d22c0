import pytest

from kebab.evals.draft import TermStatistics, extract_terms


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("How do I restore the backup of node-3?", ["restore", "backup", "node-3"]),
        ("The Café's menu, the menu", ["Café's", "menu"]),
        ("It is I", []),
        ("백업을 서버에서 복구합니다", ["백업", "서버", "복구"]),
        ("東大寺は8世紀に聖武天皇の発願で造立", ["東大寺", "世紀", "聖武天皇", "発願", "造立"]),
        ("サーバーのバックアップ", ["サーバー", "バックアップ"]),
        ("我们的服务器和网络", ["我们", "服务器", "网络"]),
        ("Сервер не отвечает", ["Сервер", "не", "отвечает"]),
    ],
)
def test_terms_are_content_words_in_their_order(sentence, words):
    assert extract_terms(sentence) == words


def test_words_of_many_passages_are_no_keywords():
    passages = [f"Kubernetes pod{number}" for number in range(30)]

    assert TermStatistics(passages).select_keywords("Kubernetes pod3") == ["pod3"]


def test_in_few_passages_every_word_is_a_keyword():
    assert TermStatistics(["kubernetes pod"] * 5).select_keywords("Kubernetes pod") == [
        "Kubernetes",
        "pod",
    ]


def test_the_rarest_words_come_in_their_order_and_of_equals_the_longer():
    statistics = TermStatistics(["server disk", "server disk", "server quantum"])

    assert statistics.select_rarest(["quantum", "server", "disk", "entanglement"], 2) == [
        "quantum",
        "entanglement",
    ]
    assert statistics.select_rarest(["server", "disk"], 1) == ["disk"]


def test_statistics_contain_every_term_and_list_repeated_ones():
    statistics = TermStatistics(["Server disk", "server"])

    assert "SERVER" in statistics
    assert "quantum" not in statistics
    assert statistics.list_repeated() == ["server"]
