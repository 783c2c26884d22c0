import pytest

from kebab.core.answers import Evidence
from kebab.rag.checking.clauses import split_clauses
from kebab.rag.checking.support import (
    IndexedEvidence,
    can_deny,
    check_support,
    find_foreign_denial,
    parse_claim,
)
from tests.fakes.evidence import stored

CAN = "The plugin can be installed from the settings page."
CANNOT = "The plugin cannot be installed on phones."


def find(claim, *passage):
    return find_foreign_denial(split_clauses([claim]), split_clauses(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("이 플러그인은 설치할 수 없습니다.", CAN),
        ("이 플러그인은 설치할 수 있습니다.", CANNOT),
        ("该插件无法安装。", CAN),
        ("该插件可以安装。", CANNOT),
        (CANNOT, "이 플러그인은 설치할 수 있습니다."),
        ("이 파일은 삭제할 수 없습니다.", "The file can be deleted at any time."),
    ],
)
def test_the_opposite_of_what_can_be_done_is_a_contradiction(claim, passage):
    assert find(claim, passage) is not None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("이 플러그인은 설치할 수 있습니다.", CAN),
        ("이 플러그인은 설치할 수 없습니다.", CANNOT),
        ("이 플러그인은 설치하지 않습니다.", CAN),
        ("이 플러그인은 삭제할 수 없습니다.", CAN),
        ("전화기에는 설치할 수 없습니다.", f"{CAN} {CANNOT}"),
        ("권한이 없으면 설치할 수 없습니다.", CAN),
        ("설치하지 않고 실행할 수 있습니다.", "It runs in a temporary environment."),
        ("该插件可以安装。", CAN),
    ],
)
def test_what_is_not_the_opposite_is_no_contradiction(claim, passage):
    assert find(claim, *passage.split(". ")) is None


def test_only_claims_about_known_verbs_are_compared():
    assert can_deny(split_clauses(["설치할 수 없습니다."]))
    assert not can_deny(split_clauses(["설치하지 않습니다.", "날 수 없습니다."]))


def test_a_claim_in_another_language_is_contradicted_by_its_passage():
    passage = IndexedEvidence(Evidence(marker=1, chunk=stored(CAN), text=CAN))

    result = check_support(parse_claim("이 플러그인은 설치할 수 없습니다."), [passage])

    assert (result.supported, result.reason) == (False, "contradicted by passage 1: 수 없")
