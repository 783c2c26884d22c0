import pytest

from kebab.rag.question_kind import QuestionKind, classify_question


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
