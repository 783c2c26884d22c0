from typing import Any

from kebab.cli.commands.serve import CollectedChannel


class KeptOutput:
    def __init__(self, descriptors, live):
        self.descriptors, self.live, self.pieces = descriptors, live, []

    def collect(self, stream, data):
        if not self.live:
            self.pieces.append((stream, data))
        return not self.live


def test_output_is_collected_until_the_call_is_live(tmp_path):
    with (tmp_path / "out").open("wb") as file:
        call: Any = KeptOutput([0, file.fileno(), 2], live=False)
        channel = CollectedChannel(call, 1, "<stdout>")
        channel.write("kept\n")
        call.live = True
        channel.write("written\n")

    assert call.pieces == [(1, b"kept\n")]
    assert (tmp_path / "out").read_text() == "written\n"
