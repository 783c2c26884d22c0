"""Compares what can be done, between a claim and a passage in another language.

Only common verbs are known, and only clauses with `can` or `cannot` are compared: the passage must
say the opposite of the verb, and never the same.
"""

from collections.abc import Sequence
from functools import cache

from kebab.rag.checking.clauses import Clause, Mode
from kebab.text.tokenizer import tokenize

_VERBS = (
    "install 설치 安装, delete 삭제 删除, remove 제거 移除, change 변경 更改, restart 재시 重启"
    ", run 실행 运行, create 생성 创建, cancel 취소 取消, search 검색 搜索, share 공유 共享"
    ", save 저장 保存, move 이동 移动, copy 복사 复制, edit 편집 编辑, access 접근 访问"
    ", enable 활성 启用, refund 환불 退款, freeze 냉동 冷冻, restore 복원 恢复"
    ", download 다운 下载, upgrade 업그 升级"
)


@cache
def _list_verbs() -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Return for each verb its index term, its Korean beginning and its Han characters."""
    rows = (row.split() for row in _VERBS.split(","))
    return tuple((tokenize(one)[0], korean, frozenset(han)) for one, korean, han in rows)


def find_foreign_denial(claimed: Sequence[Clause], stated: Sequence[Clause]) -> str | None:
    """Return the verb that one side says can be done and the other says cannot, if any."""
    for claim in claimed:
        if claim.mode is not Mode.CAN or claim.condition:
            continue
        for verb in _list_verbs():
            same = [other for other in stated if _has_verb(other, verb)]
            opposite = [other for other in same if other.mode is Mode.CAN and not other.condition]
            if not _has_verb(claim, verb) or not opposite:
                continue
            if all(other.is_denied != claim.is_denied for other in same):
                return claim.word or opposite[0].word
    return None


def can_deny(clauses: Sequence[Clause]) -> bool:
    """Return whether a claim says of a known verb that it can or cannot be done."""
    known = (one for one in clauses if one.mode is Mode.CAN and not one.condition)
    return any(_has_verb(one, verb) for one in known for verb in _list_verbs())


def _has_verb(clause: Clause, verb: tuple[str, str, frozenset[str]]) -> bool:
    term, korean, han = verb
    words = clause.denied if clause.is_denied else clause.terms
    return term in words or korean in (clause.predicate or words) or han <= words
