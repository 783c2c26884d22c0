import time

from kebab.warm import client, start
from tests.fakes.warm import run_call


def test_a_cold_call_leaves_one_warm_process_that_stop_ends(base, runtime):
    environ = base | {"XDG_RUNTIME_DIR": str(runtime), "KEBAB_DAEMON_AUTO": "true"}
    del environ["PYTHONPATH"]  # the warm process runs the copy of its caller without it too
    assert run_call(environ, "search", "sourdough").returncode == 0
    try:
        deadline = time.monotonic() + 30
        while run_call(environ, "serve", "--status").returncode and time.monotonic() < deadline:
            time.sleep(0.1)
        status = run_call(environ, "serve", "--status", "--json")
        assert (status.returncode, b'"running":true' in status.stdout) == (0, True)
    finally:
        stopped = run_call(environ, "serve", "--stop", "--json")
    assert (stopped.returncode, b'"running":false' in stopped.stdout) == (0, True)
    assert list((runtime / "kebab").iterdir()) == []


def test_stop_tells_what_it_did(warm):
    assert warm.call("serve", "--stop").stdout == b"the warm process ended\n"
    assert warm.call("serve", "--stop").stdout == b"the warm process does not run\n"


def test_without_a_warm_process_there_is_no_status_and_nothing_to_stop(runtime):
    path = str(runtime / "abc")

    assert start.ask_status(path) is None
    assert start.stop(path) is False


def test_its_own_socket_is_that_of_its_calls():
    environ = {"XDG_RUNTIME_DIR": "/run/user/7"}
    identity = client.compute_identity(environ)

    assert start.find_own_socket(environ) == client.find_socket(environ, identity)
