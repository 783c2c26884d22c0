import pytest

from kebab.rag.prompt import remove_frame

LOCATION = "From: Pump > Start (work/pump.md, lines 142-145)"
CASES = [
    (f"<passage-1a2b3c4d [1]>\n{LOCATION}\nIt runs.\n</passage-1a2b3c4d>", "It runs."),
    ("<evidence-1a2b3c4d>\nIt runs.\n</evidence-1a2b3c4d>\n", "It runs."),
    ("It runs <passage-1a2b3c4d [1]>.", "It runs [1]."),
    ("It runs [passage-abc [1]].", "It runs [1]."),
    ("It runs [passage [1]].", "It runs [passage [1]]."),
    ("It runs (passage-1a2b3c4d [2]) well.", "It runs [2] well."),
    ("As passage-1a2b3c4d [2] says, it runs.", "As [2] says, it runs."),
    ("It runs </passage-1a2b3c4d> well.", "It runs  well."),
    ("It runs <passage [1]>.", "It runs [1]."),
    ("It runs [1].\n</evid", "It runs [1]."),
    ("It runs [1].\n<passage-1a2b", "It runs [1]."),
    (f"{LOCATION} It runs.", "It runs."),
    (f"<passage-1a2b3c4d [1]>{LOCATION} It runs.", "[1]It runs."),
    (f"</passage-1a2b3c4d>{LOCATION} It runs.", "It runs."),
    ("It runs (work/pump.md, lines 142-145).", "It runs."),
    ("Pump > Start (work/pump.md, line 3)\nIt runs.", "It runs."),
    ("It runs [1].\n\nNOT_IN_NOTES", "It runs [1]."),
    ("**NOT_IN_NOTES**\nIt runs [1].", "It runs [1]."),
    ("It runs [1]. NOT_IN_NOTES.", "It runs [1]."),
    ("Question: Does it run?\n\nIt runs [1].", "It runs [1]."),
    ("It runs [1].\n\nQuestion: when does it run [1]", "It runs [1]."),
    ("It runs [1].\n\nQuestion: When does it run? [1]\nEvery day.", "It runs [1].\n\nEvery day."),
    ("Source: Pump > Start\n**Answer:** It runs.", "It runs."),
    ("<pass<passage-1a2b>age-1a2b>It runs.", "It runs."),
]
KEPT = [
    "The reply `NOT_IN_NOTES` means that no passage answers [1].",
    "NOT_IN_NOTES means that no passage answers [1].",
    "A passage-based plan has evidence-backed steps (all, 3 lines).",
    "Source: Settings > Network > Proxy is where it is entered [1].",
    "From: Files > Export you print it. Then it runs.",
    "Assistant: Ann [1]\nDirector: Bob [1]",
    "From: Bob to Ann. The question: who runs it?",
    "It is read from: the file, then the variables, see the table (config, line 3)",
    "Use `kubectl get <name>` and List<String> here.",
    "```sh\n$ cat <file> | head -n 3  # (a, b)\n```",
    "Copy numbers exactly (see a.md).",
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_the_frame_is_removed(text, expected):
    assert remove_frame(text).strip() == expected


@pytest.mark.parametrize("text", KEPT)
def test_other_text_is_unchanged(text):
    assert remove_frame(text) == text


@pytest.mark.parametrize(
    "unit", ["<passage-", "(", "From: (", "NOT_IN_NOTES ", "[", "a > ", "\n> "]
)
def test_hostile_text_is_filtered_completely(unit):
    text = unit * (8_000 // len(unit))

    assert len(remove_frame(text)) <= len(text)


def test_an_element_that_an_answer_names_stays():
    text = "<passage-0a1b2c3d [1]>The element <passage> is it <passage [2]>.</passage-0a1b2c3d>"

    assert remove_frame(text) == "[1]The element <passage> is it [2]."
