import pytest

from kebab.rag.checking.clauses import Mode, split_eastern


def describe(sentence):
    return [(one.is_denied, one.mode) for one in split_eastern(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("파일은 삭제됩니다.", [(False, Mode.PLAIN)]),
        ("파일은 삭제되지 않습니다.", [(True, Mode.PLAIN)]),
        ("파일을 삭제할 수 있습니다.", [(False, Mode.CAN)]),
        ("파일을 삭제할 수 없습니다.", [(True, Mode.CAN)]),
        ("파일을 삭제하면 안 됩니다.", [(True, Mode.CAN)]),
        ("파일을 삭제해야 합니다.", [(False, Mode.NEED)]),
        ("파일을 삭제하지 않아도 됩니다.", [(True, Mode.NEED)]),
        ("파일을 삭제할 필요가 없습니다.", [(True, Mode.NEED)]),
        ("파일은 삭제되지 않지만 폴더는 삭제됩니다.", [(True, Mode.PLAIN), (False, Mode.PLAIN)]),
        ("관리자만 파일을 삭제합니다.", []),
        ("文件会被删除。", [(False, Mode.PLAIN)]),
        ("文件不会被删除。", [(True, Mode.PLAIN)]),
        ("文件无法删除。", [(True, Mode.CAN)]),
        ("文件可以删除。", [(False, Mode.CAN)]),
        ("无需删除文件。", [(True, Mode.NEED)]),
        ("必须删除文件。", [(False, Mode.NEED)]),
        ("不得不删除文件。", [(False, Mode.NEED)]),
        ("不仅删除文件。", [(False, Mode.PLAIN)]),
        ("只有管理员删除文件。", []),
        ("ファイルは削除されます。", [(False, Mode.PLAIN)]),
        ("ファイルは削除されません。", [(True, Mode.PLAIN)]),
        ("ファイルは削除できません。", [(True, Mode.CAN)]),
        ("ファイルを削除する必要はありません。", [(True, Mode.NEED)]),
    ],
)
def test_the_form_of_a_clause_says_what_it_denies(sentence, expected):
    assert describe(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "condition"),
    [
        ("포트가 열리면 서버가 시작됩니다.", {"포트", "열리"}),
        ("설치하지 않고 실행합니다.", {"설치"}),
        ("토큰 없이 요청을 보냅니다.", {"토큰"}),
        ("没有网络也搜索。", {"网", "络"}),
        ("如果关闭，文件保留。", {"如", "果", "关", "闭"}),
    ],
)
def test_conditions_and_circumstances_are_kept_apart(sentence, condition):
    assert [set(one.condition) for one in split_eastern(sentence)] == [condition]


def test_the_predicate_is_the_last_term():
    (clause,) = split_eastern("오래된 파일은 매일 밤 삭제됩니다.")

    assert clause.predicate == {"삭제"}
