from kebab.parse.blocks import TextBuilder
from kebab.parse.html_flow import Flow


def build(*steps):
    builder = TextBuilder()
    flow = Flow(builder)
    for step in steps:
        if isinstance(step, str):
            flow.inline.append(step)
        else:
            step(flow)
    flow.finish()
    return builder.build("a.html").text


def test_what_is_still_open_is_written_at_the_end():
    assert build(lambda flow: flow.begin_heading(2), "a") == "## a"
    assert build(lambda flow: flow.begin_list(None), Flow.begin_item, "a") == "- a"
    assert build(lambda flow: flow.begin_term(signature=False), "a") == "a"
    assert build(Flow.begin_quote, "a") == "> a"
    assert (
        build(
            lambda flow: flow.begin_table(layout=False),
            Flow.begin_row,
            lambda flow: flow.begin_cell("td"),
            "a",
            lambda flow: flow.begin_cell("td"),
            "b",
        )
        == "| a | b |"
    )


def test_ends_without_a_begin_are_ignored():
    ends = (Flow.end_heading, Flow.end_list, Flow.end_quote, Flow.end_table, Flow.end_cell)

    assert build(*ends, Flow.end_term, Flow.end_definitions, "a") == "a"


def test_deep_lists_are_indented_within_bounds():
    begins = [lambda flow: flow.begin_list(None)] * 50

    assert build(*begins, Flow.begin_item, "a") == f"{'  ' * 8}- a"
