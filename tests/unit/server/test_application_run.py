import socket
import threading

import pytest

from kebab.errors.catalog import UsageInvalid
from kebab.server.application import Address, open_listener
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.shape.libraries import list_own_exceptions
from tests.unit.server.conftest import read_until


def test_a_port_in_use_is_a_usage_error():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UsageInvalid, match=f"{port}.*in use"):
            open_listener(Address("127.0.0.1", port))


def test_running_requests_finish_before_the_server_ends(serve, send, pool):
    address, server = serve()
    connection = send(address, "/v1/search", {"query": "slow"}, "*/*")
    wait_until(lambda: pool.asked)
    server.should_exit = True

    assert b" 200 OK" in read_until(connection, b"search_response.v1")


def test_a_slow_sender_is_no_burden_for_the_others(serve, send):
    address, _ = serve()
    with socket.create_connection(address, timeout=PATIENCE_S) as slow:
        slow.sendall(b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\n")
        assert b" 200 OK" in read_until(send(address, "/v1/search", {"query": "cat"}), b"\r\n\r\n")


def test_many_clients_at_once_are_all_answered(serve, send):
    address, _ = serve()
    statuses: list[bytes] = []

    def ask():
        connection = send(address, "/v1/search", {"query": "cat"}, "*/*")
        statuses.append(read_until(connection, b"\r\n\r\n")[:15])

    threads = [threading.Thread(target=ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)

    assert statuses == [b"HTTP/1.1 200 OK"] * 50


@pytest.mark.filterwarnings("ignore")  # modules of the library warn of themselves
def test_every_exception_of_the_library_belongs_to_what_is_not_used():
    unused = {"ImportFromStringError", "ClientDisconnected", "UvicornDeprecationWarning"}
    of_websockets = {"FrameTooLargeError"}  # not served

    found = {kind.__name__ for kind in list_own_exceptions("uvicorn")}
    assert found <= unused | of_websockets
