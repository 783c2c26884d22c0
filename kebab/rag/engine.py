"""Answers a question: retrieves evidence, decides whether it suffices, and answers or refuses."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, structs
from msgspec.structs import replace

from kebab.core.answers import (
    AnswerMode,
    AskOutcome,
    AskQuery,
    LanguageModel,
    Refusal,
    RetrievalSummary,
    SupportingQuote,
    Turn,
)
from kebab.core.queries import Mode, Page, Query
from kebab.errors.catalog import InvalidInput
from kebab.rag.answer_check import (
    CountOccurrences,
    Doubt,
    check_answer_terms,
    find_absent_terms,
    is_decisive,
)
from kebab.rag.question_terms import (
    QuestionTerm,
    TermKind,
    build_standalone_question,
    extract_question_terms,
    select_asking_sentences,
)
from kebab.search.answerability import FAIR
from kebab.text.language import detect_question_language
from kebab.text.secrets import mask_secrets
from kebab.wire.ask import AnswerUsage, AnswerWarning

MIN_ANSWERABILITY = FAIR
"""Below this answerability a question is refused."""

EMPTY_USAGE = AnswerUsage(
    prompt_tokens=0,
    completion_tokens=0,
    latency_ms=0.0,
    first_token_ms=None,
    finish_reason=None,
    truncated=False,
    downshifts=0,
)
"""The usage of an answer before any model call."""


class AnswerListener(Protocol):
    """Receives the progress of an answer."""

    def on_retrieved(self, page: Page) -> None:
        """Receive the hits of the search."""

    def on_token(self, text: str) -> None:
        """Receive the next piece of the answer, which is not checked yet."""

    def on_restart(self, reason: str) -> None:
        """Discard all pieces so far: the model is asked again with a shorter prompt."""


class DraftAnswer(Struct, frozen=True, kw_only=True):
    """The result of a writer: a text with its citations, or a refusal.

    `used` is the number of passages that the writer worked from.
    """

    text: str = ""
    refusal: Refusal | None = None
    citations: tuple[SupportingQuote, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()
    usage: AnswerUsage = EMPTY_USAGE
    used: int = 0
    uncertain: bool = False


def count_as_present(tokens: Collection[str]) -> Mapping[str, int]:
    """Return that each token occurs once: without statistics no term is absent."""
    return dict.fromkeys(tokens, 1)


class AnswerWriter(Protocol):
    """Writes an answer from the hits of a search."""

    @property
    def mode(self) -> AnswerMode:
        """Whether a model writes the answer."""

    @property
    def model(self) -> LanguageModel | None:
        """The language model, if there is one."""

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Write the answer."""


class AskEngine:
    """Answers questions over one snapshot of the library."""

    def __init__(
        self,
        search: Callable[[Query], Page],
        writer: AnswerWriter,
        *,
        count_occurrences: CountOccurrences = count_as_present,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._search = search
        self._writer = writer
        self._count_occurrences = count_occurrences
        self._clock = clock

    def answer(
        self, query: AskQuery, history: Sequence[Turn], listener: AnswerListener
    ) -> AskOutcome:
        """Return an answer with checked claims, or a refusal.

        Errors of `LanguageModel.chat` propagate; `ContextOverflow` only when even the shortest
        prompt does not fit.

        Raises:
            InvalidInput: The question is empty.
        """
        if not query.question.strip():
            raise InvalidInput(field="$.question", cause="it is empty")
        started = self._clock()
        model = self._writer.model
        question = build_standalone_question(query.question, history, model)
        page = self._search(
            Query(
                text=question,
                prose=True,
                mode=query.mode,
                limit=query.limit,
                rerank=query.mode is not Mode.LEXICAL if query.rerank is None else query.rerank,
                filters=query.filters,
            )
        )
        listener.on_retrieved(page)
        terms = _extract_terms(query.question, page)
        absent = find_absent_terms(terms, page, self._count_occurrences)
        names = tuple(term.text for term in absent)
        asked = _extract_terms(select_asking_sentences(query.question), page)
        if not page.hits:
            draft = DraftAnswer(refusal=Refusal.NO_CHUNKS)
        elif page.answerability < MIN_ANSWERABILITY:
            draft = DraftAnswer(refusal=Refusal.SCORE_GATE)
        elif is_decisive(asked, absent):
            draft = DraftAnswer(refusal=Refusal.ABSENT_TERMS)
        else:
            draft = self._writer.write(question, page, history, listener)
        text = draft.text
        if draft.refusal is None:
            quotes = [citation.quote for citation in draft.citations]
            check = check_answer_terms(query.question, terms, absent, quotes, page)
            draft = replace(
                draft,
                warnings=(*draft.warnings, *to_warnings(check.doubts)),
                uncertain=draft.uncertain or check.uncertain,
            )
        elif not text:
            code = detect_question_language(query.question).code
            text = get_refusal_sentence(draft.refusal, code, names)
        latency_ms = round((self._clock() - started) * 1000, 3)
        return AskOutcome(
            text=text,
            mode=self._writer.mode,
            model=model.name if model else None,
            refusal=draft.refusal,
            citations=draft.citations,
            retrieved=RetrievalSummary(
                question=question,
                page=page,
                used=draft.used,
                top_score=page.answerability if page.hits else 0.0,
                gate=MIN_ANSWERABILITY,
            ),
            usage=structs.replace(draft.usage, latency_ms=latency_ms),
            warnings=draft.warnings,
            absent_terms=names,
            uncertain=draft.uncertain,
        )


def _extract_terms(question: str, page: Page) -> tuple[QuestionTerm, ...]:
    """Return the key terms of a question that can be compared with the hits.

    German capitalises every noun. In notes in other languages, names may be written differently.
    Keys and passwords are masked in the hits.
    """
    language = detect_question_language(question).code
    found = extract_question_terms(question, nouns=language == "de")
    terms = tuple(term for term in found if mask_secrets(term.text) == term.text)
    if language is None or any(hit.chunk.lang in {None, language} for hit in page.hits):
        return terms
    return tuple(term for term in terms if term.kind in {TermKind.CODE, TermKind.NUMBER})


def to_warnings(doubts: Sequence[Doubt]) -> tuple[AnswerWarning, ...]:
    """Return a warning for each doubt."""
    return tuple(
        AnswerWarning(code=doubt.kind.value, message=doubt.message, marker=None, span=None)
        for doubt in doubts
    )


_ORDER = (
    Refusal.NO_CHUNKS,
    Refusal.SCORE_GATE,
    Refusal.ABSENT_TERMS,
    Refusal.LLM_SELF_JUDGE,
    Refusal.UNSUPPORTED_CLAIMS,
    Refusal.LLM_STREAM_ABORTED,
    Refusal.EMPTY_ANSWER,
    None,
)
"""None stands for every refusal while the index does not cover all files."""

_TEXTS = """\
en
Nothing in the notes could be found for this question.
What was found in the notes is too weak to answer this question.
The notes do not mention {terms}.
The notes do not answer this question.
An answer was withheld because the notes do not support it.
The answer was interrupted.
The model gave no answer.
The files that are read so far do not answer this question.
ko
이 질문에 대해 노트에서 찾은 내용이 없습니다.
노트에서 찾은 내용은 이 질문에 답하기에 관련성이 부족합니다.
노트에는 {terms}에 대한 언급이 없습니다.
노트에는 이 질문에 대한 답이 없습니다.
노트가 뒷받침하지 않아 답변을 보류했습니다.
답변이 중단되었습니다.
모델이 답변하지 않았습니다.
지금까지 읽은 파일에는 이 질문에 대한 답이 없습니다.
ja
この質問に関する内容はノートに見つかりませんでした。
ノートで見つかった内容は、この質問に答えるには関連が弱すぎます。
ノートには{terms}についての記述がありません。
ノートにはこの質問の答えがありません。
ノートに裏付けがないため、回答を控えました。
回答は中断されました。
モデルは回答しませんでした。
これまでに読み込んだファイルには、この質問の答えがありません。
zh
在笔记中没有找到与这个问题有关的内容。
在笔记中找到的内容相关性太弱，不足以回答这个问题。
笔记中没有提到{terms}。
笔记中没有这个问题的答案。
由于笔记不支持该回答，因此未予显示。
回答被中断。
模型没有给出回答。
目前已读取的文件中没有这个问题的答案。
de
Zu dieser Frage wurde in den Notizen nichts gefunden.
Was in den Notizen gefunden wurde, reicht nicht aus, um diese Frage zu beantworten.
In den Notizen kommt {terms} nicht vor.
Die Notizen beantworten diese Frage nicht.
Eine Antwort wurde zurückgehalten, weil die Notizen sie nicht belegen.
Die Antwort wurde unterbrochen.
Das Modell hat keine Antwort gegeben.
Die bisher gelesenen Dateien beantworten diese Frage nicht.
fr
Rien n'a été trouvé dans les notes pour cette question.
Ce qui a été trouvé dans les notes ne suffit pas pour répondre à cette question.
Les notes ne mentionnent pas {terms}.
Les notes ne répondent pas à cette question.
Une réponse a été retenue, car les notes ne l'appuient pas.
La réponse a été interrompue.
Le modèle n'a donné aucune réponse.
Les fichiers lus jusqu'ici ne répondent pas à cette question.
es
No se ha encontrado nada en las notas para esta pregunta.
Lo que se ha encontrado en las notas no basta para responder a esta pregunta.
Las notas no mencionan {terms}.
Las notas no responden a esta pregunta.
Se ha retenido una respuesta porque las notas no la respaldan.
La respuesta se ha interrumpido.
El modelo no ha dado ninguna respuesta.
En lo que se ha leído hasta ahora no hay una respuesta para esta pregunta."""
_LINES = _TEXTS.split("\n")
_BLOCK = 1 + len(_ORDER)

REFUSAL_SENTENCES = {
    _LINES[start]: dict(zip(_ORDER, _LINES[start + 1 : start + _BLOCK], strict=True))
    for start in range(0, len(_LINES), _BLOCK)
}
"""The sentences by language code and reason."""


def get_refusal_sentence(
    reason: Refusal | None, code: str | None, terms: Sequence[str] = ()
) -> str:
    """Return the sentence of a refusal in a language, in English when there is no translation.

    The reason None means that not all files are searched. `terms` are the absent ones that it
    names.
    """
    sentence = REFUSAL_SENTENCES.get(code or "en", REFUSAL_SENTENCES["en"])[reason]
    return sentence.replace("{terms}", ", ".join(terms))
