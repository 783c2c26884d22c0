from kebab.cli.command_list import list_commands
from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.health import render_command_list


def test_the_list_fits_a_narrow_terminal():
    lines = list(render_command_list(list_commands(), Canvas(width=80)))

    assert max(map(measure_width, lines)) <= 80


def test_in_a_pipe_each_command_is_one_line():
    listed = list_commands()
    lines = list(render_command_list(listed, Canvas()))

    assert lines[: len(listed.commands)] == [
        f"{command.usage}  {command.summary}" for command in listed.commands
    ]
