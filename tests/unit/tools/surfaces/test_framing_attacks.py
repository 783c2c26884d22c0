"""What an answer to an attack has to be; `tests/unit/http/test_protocol.py` runs them all."""

import pytest

from tools.surfaces.framing_attacks import list_attacks, read_answers

ANSWER = b'HTTP/1.1 400 Bad Request\r\nContent-Length: 24\r\n\r\n{"code":"usage_invalid"}\n'


def test_every_attack_has_a_name_of_its_own():
    names = [attack.name for attack in list_attacks("token")]

    assert len(names) == len({*names}) > 60


def test_answers_are_read_one_after_another():
    whole = ANSWER.replace(b"24", b"25")

    assert [*read_answers(whole * 2)] == [(400, "usage_invalid")] * 2


@pytest.mark.parametrize("raw", [b"HTTP/1.1 200 OK\r\n\r\n", ANSWER + b"x", b"junk"])
def test_what_is_no_whole_answer_is_a_fault(raw):
    with pytest.raises((ValueError, KeyError)):
        [*read_answers(raw)]
