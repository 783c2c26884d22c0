from kebab.cli.render.picture import draw_terminal, split_styles


def test_a_coloured_line_is_split_by_its_styles():
    parts = split_styles("a \x1b[33m\x1b[1mb\x1b[0m c")

    assert [part for part in parts if part[1]] == [("", "a "), ("yellow bold", "b"), ("", " c")]


def test_each_part_begins_at_its_column():
    picture = draw_terminal("kebab x", ["백업 \x1b[1mb & c\x1b[0m"])

    assert '<tspan x="58.0" class="bold">b &amp; c</tspan>' in picture


def test_a_picture_is_as_wide_as_its_widest_line():
    narrow, wide = (draw_terminal("kebab x", ["\x1b[2m" + "a" * n + "\x1b[0m"]) for n in (9, 100))

    assert 'width="704"' in narrow
    assert 'width="872"' in wide
