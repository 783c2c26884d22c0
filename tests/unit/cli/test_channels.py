import os
import subprocess
import sys
import threading

import pytest

from kebab.cli.channels import OutputChannel


def python(program, **options):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, timeout=60, **options
    )


def test_text_is_utf_8_and_lone_surrogates_are_escaped(pipe):
    reader, channel = pipe

    channel.write("백업 \udcff\n")

    assert os.read(reader, 100) == "백업 \\udcff\n".encode()


def test_long_writes_are_whole_even_when_the_reader_is_slow(pipe):
    reader, channel = pipe
    os.set_blocking(channel.descriptor, False)
    wanted = b"x" * 1_000_000
    writing = threading.Thread(target=channel.write_bytes, args=(wanted,))
    writing.start()
    found = b""
    while len(found) < len(wanted):
        found += os.read(reader, 65_536)
    writing.join()

    assert found == wanted


def test_a_best_effort_channel_drops_unwritable_text():
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        OutputChannel(descriptor, "<stderr>", best_effort=True).write("x")
    finally:
        os.close(descriptor)


def test_a_closed_pipe_ends_a_best_effort_channel_too(pipe):
    reader, channel = pipe
    channel.best_effort = True
    os.close(reader)

    with pytest.raises(BrokenPipeError):
        channel.write("anyone?")


def test_libraries_write_to_the_null_device_and_we_to_the_caller():
    done = python(
        "import os, sys\n"
        "from kebab.cli.channels import open_channels\n"
        "print('ours, before')\n"
        "channels = open_channels()\n"
        "os.write(1, b'noise'); os.write(2, b'noise'); print('noise')\n"
        "os.system('echo noise; echo noise >&2')\n"
        "channels.out.write('result'); channels.err.write('aside')\n"
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"ours, before\nresult", b"aside")


def test_descriptors_that_the_caller_closed_are_never_given_to_a_file():
    done = python(
        "import os\n"
        "for one in (0, 1, 2): os.close(one)\n"
        "from kebab.cli.channels import open_channels\n"
        "open_channels()\n"
        "file = os.open('/dev/zero', os.O_RDONLY)\n"
        "os._exit(0 if file > 2 else 1)\n"
    )

    assert done.returncode == 0
