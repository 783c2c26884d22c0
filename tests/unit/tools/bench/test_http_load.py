import asyncio
import json
import random
from collections import Counter

import pytest

from kebab.wire.record import decode_request
from kebab.wire.search import SearchRequest
from tools.bench import http_load
from tools.bench.http_load import Load, build_body, main, run_clients


def test_a_load_counts_errors_and_orders_latencies():
    load = Load([0.3, 0.1, 0.2], Counter({"200": 3, "503": 2, "OSError": 1}))

    assert load.count_errors() == 3
    assert (load.find_percentile(0.5), load.find_percentile(0.99)) == (200, 300)
    assert Load().find_percentile(0.5) == 0


def test_a_body_is_a_request():
    chance = random.Random(1)

    assert all(decode_request(build_body(chance), SearchRequest).limit > 0 for _ in range(50))


def test_a_server_that_is_not_there_is_an_error_for_each_client():
    load = asyncio.run(run_clients("http://127.0.0.1:9", "token", 3, 0.1))

    assert load.count_errors() == load.statuses["ConnectionRefusedError"] == 3


def test_errors_of_a_real_server_are_counted(capsys, monkeypatch):
    monkeypatch.setattr(http_load, "_WARM_UP_S", 0.1)

    assert main(["--clients", "2", "--seconds", "0.5"]) == 1
    figures = json.loads(capsys.readouterr().out)
    assert figures["statuses"] == {"409": figures["requests"]}
    assert figures["errors"] == figures["requests"] > 0
    assert len(figures["memory_mb"]) == 2


@pytest.mark.parametrize("flag", ["--clients", "--seconds"])
def test_a_flag_without_a_number_is_refused(flag):
    with pytest.raises(SystemExit):
        main([flag, "many"])
