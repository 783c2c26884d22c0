import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.markers import find_fenced_blocks
from kebab.rag.generative_answer import cut_unfinished


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The backup runs every night [1]. It uses", "The backup runs every night [1]."),
        ("It runs. [1]", "It runs. [1]"),
        ("It runs every night [1]", "It runs every night [1]"),
        ("**It runs.** [1][2] And", "**It runs.** [1][2]"),
        ("It runs [1].\n\nIt us", "It runs [1]."),
        ("It runs [1].\n\nIt uses restic\n", "It runs [1].\n\nIt uses restic"),
        ("백업은 매일 밤 [1]. 그리고 사진은", "백업은 매일 밤 [1]."),
        ("它在夜里运行。[1]然后", "它在夜里运行。[1]"),
    ],
)
def test_an_unfinished_sentence_is_left_out(text, kept):
    assert cut_unfinished(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("- one thing [1]\n- two th", "- one thing [1]"),
        ("1. One thing\n2. two th", "1. One thing"),
        ("Done [1].\n\n## Ste", "Done [1]."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | x", "| a | b |\n|---|---|\n| 1 | 2 |"),
    ],
)
def test_an_unfinished_item_row_or_heading_is_left_out_with_its_signs(text, kept):
    assert cut_unfinished(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Run:\n\n```bash\nrestic check\nrestic res", "Run:\n\n```bash\nrestic check\n```"),
        ("Run:\n\n~~~\nrestic check\n", "Run:\n\n~~~\nrestic check\n~~~"),
        ("> ```sh\n> restic check\n> rm -rf /", "> ```sh\n> restic check\n> ```"),
        ("Run:\n```\nrestic check\n``", "Run:\n```\nrestic check\n```"),
        ("Run:\n```\nrestic check\n```", "Run:\n```\nrestic check\n```"),
        ("Run:\n```\nrestic check\n```\nThen wa", "Run:\n```\nrestic check\n```"),
    ],
)
def test_an_open_block_is_closed_after_its_last_whole_line(text, kept):
    assert cut_unfinished(text) == kept


@pytest.mark.parametrize("block", ["```", "```ba", "```bash\n", "```bash\nrm -rf /"])
def test_a_block_without_a_whole_line_is_left_out(block):
    assert cut_unfinished(f"Run:\n\n{block}") == "Run:"
    assert cut_unfinished(block) == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The backup runs ev", "The backup runs …"),
        ("Backup", "Backup …"),
        ("它在夜里运行并且", "它在夜里运行并且 …"),
        ("", ""),
        (" \n", ""),
    ],
)
def test_a_single_sentence_stays_and_is_marked_as_unfinished(text, kept):
    assert cut_unfinished(text) == kept


@given(st.text(alphabet="ab .\n`>-|1[]#~", max_size=80))
def test_no_block_stays_open_and_nothing_is_added_but_its_end(text):
    cut = cut_unfinished(text)

    blocks = find_fenced_blocks(f"{cut}\n.")
    assert not blocks or blocks[-1][1] <= len(cut)
    whole = cut.removesuffix(" …")
    assert text.startswith((whole, whole.rpartition("\n")[0]))
