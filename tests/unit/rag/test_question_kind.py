import pytest

from kebab.rag.question_kind import (
    FactKind,
    QuestionKind,
    classify_question,
    find_fact_kind,
    lacks_fact,
)


@pytest.mark.parametrize(
    "question",
    [
        "How do I install it?",
        "how can I list all pods",
        "what is the command to restart the server?",
        "Which command lists the pods?",
        "Wie installiere ich das Paket?",
        "Wie kann man den Server starten?",
        "Comment installer le paquet ?",
        "¿Cómo puedo instalar el paquete?",
        "Como posso instalar o pacote?",
        "Come si installa il pacchetto?",
        "Как установить пакет?",
        "패키지를 어떻게 설치하나요?",
        "서버를 다시 시작하는 명령어",
        "如何安装这个软件包？",
        "パッケージをインストールする方法は？",
    ],
)
def test_questions_for_an_instruction(question):
    assert classify_question(question) is QuestionKind.HOW_TO


@pytest.mark.parametrize(
    "question",
    [
        "What is a pod?",
        "what are taints",
        "What does idempotent mean?",
        "Was ist ein Pod?",
        "Qu'est-ce qu'un pod ?",
        "¿Qué es un pod?",
        "O que é um pod?",
        "Cos'è un pod?",
        "Что такое под?",
        "파드란?",
        "파드는 무엇인가요?",
        "什么是容器？",
        "容器是什么？",
        "ポッドとは何ですか？",
    ],
)
def test_questions_for_a_definition(question):
    assert classify_question(question) is QuestionKind.DEFINITION


@pytest.mark.parametrize(
    "question",
    [
        "When does the backup run?",
        "How many replicas are there?",
        "Who wrote it?",
        "Wie viele Pods laufen?",
        "¿Cuántos pods hay?",
        "백업은 언제 실행되나요?",
        "谁写了它？",
        "",
    ],
)
def test_other_questions(question):
    assert classify_question(question) is QuestionKind.OTHER


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote the manual?", FactKind.PERSON),
        ("¿Quién escribió el manual?", FactKind.PERSON),
        ("Кто написал книгу?", FactKind.PERSON),
        ("When was the bridge opened?", FactKind.TIME),
        ("In which year was the bridge opened?", FactKind.TIME),
        ("Wann wurde die Brücke eröffnet?", FactKind.TIME),
        ("¿Cuándo se abrió el puente?", FactKind.TIME),
        ("Когда открыли мост?", FactKind.TIME),
        ("다리는 언제 열렸나요?", FactKind.TIME),
        ("橋はいつ開通しましたか", FactKind.TIME),
        ("这座桥是什么时候建的?", FactKind.TIME),
        ("How many rooms are there?", FactKind.NUMBER),
        ("What is the maximum size of a file?", FactKind.NUMBER),
        ("Which version of Python does it need?", FactKind.NUMBER),
        ("Wie viele Zimmer gibt es?", FactKind.NUMBER),
        ("¿Cuántas habitaciones hay?", FactKind.NUMBER),
        ("Сколько комнат?", FactKind.NUMBER),
        ("방이 몇 개 있나요?", FactKind.NUMBER),
        ("部屋は何個ありますか", FactKind.NUMBER),
        ("有多少个房间?", FactKind.NUMBER),
        ("How much does the licence cost?", FactKind.MONEY),
        ("What is the price of a seat?", FactKind.MONEY),
        ("Wie hoch ist die Kaution?", FactKind.MONEY),
        ("¿Cuánto cuesta la licencia?", FactKind.MONEY),
        ("라이선스 가격은?", FactKind.MONEY),
        ("料金はいくらですか", FactKind.MONEY),
        ("这个多少钱?", FactKind.MONEY),
        ("What percentage of users agree?", FactKind.SHARE),
        ("Where was the author born?", FactKind.PLACE),
        ("How do I install it?", None),
        ("Which colour is it?", None),
        ("Wer hat das geschrieben?", None),
    ],
)
def test_the_kind_of_a_question(question, kind):
    assert find_fact_kind(question) is kind


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who wrote the manual?", "It was written by Ada Lovelace."),
        ("Who may approve it?", "Only owners may approve it."),
        ("When was it opened?", "It was opened in 1932."),
        ("When was it opened?", "It was opened on the third Monday of May."),
        ("When does it restart?", "It restarts after a crash."),
        ("橋はいつ開通しましたか", "橋は昭和7年に開通した。"),
        ("How many rooms are there?", "There are three rooms."),
        ("Сколько комнат?", "Это пять комнат."),
        ("部屋は何個ありますか", "部屋は三つある。"),
        ("How much does it cost?", "It costs $5."),
        ("Wie hoch ist die Kaution?", "Sie beträgt 900 Euro."),
        ("What percentage of users agree?", "Half of them agree."),
        ("Where was the author born?", "The author was born in Leeds."),
        ("谁写了这本书?", "这本书的作者很有名。"),
    ],
)
def test_text_with_evidence_may_state_the_fact(question, text):
    kind = find_fact_kind(question)

    assert kind is None or not lacks_fact(kind, question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the tower built?", "A night in the tower costs 91 euros."),
        ("Who is the keeper of Vurmog?", "The lighthouse Vurmog was built in 1833."),
        ("Who wrote the manual?", "the manual has a chapter on backups"),
        ("When was it opened?", "It opens when a key is pressed."),
        ("¿Cuándo se abrió el puente?", "El puente es largo y ancho."),
        ("다리는 언제 열렸나요?", "다리는 길고 넓다."),
        ("How many rooms are there?", "The rooms are large."),
        ("有多少个房间?", "房间很大。"),
        ("How much does it cost?", "It costs more than 3 others."),
        ("Wie hoch ist die Kaution?", "Die Kette des Fahrrads ist geölt."),
        ("What percentage of users agree?", "The users agree."),
        ("Where was the author born?", "the author was born at home"),
    ],
)
def test_text_without_evidence_does_not_state_the_fact(question, text):
    kind = find_fact_kind(question)

    assert kind is not None
    assert lacks_fact(kind, question, text)
