"""Counts keystrokes and seconds of ten tasks on the page and in a terminal.

Run `python -m tools.page.tasks`. The page is used by keys alone; `Tab` is pressed until the wanted
control has the focus, and counts each time. The seconds are those of the programs: nobody thinks or
types. Commands of the terminal are processes of their own, without a warm one.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from selenium.webdriver.common.keys import Keys

from tests.fakes.ollama import Say, fake_ollama
from tools.page.browser import Site, Visitor, open_browser, open_site
from tools.page.pictures import QUESTION, write_notes

_MOST_TABS = 60


class Task(NamedTuple):
    """A task: what is pressed on the page, what is seen at its end, and the commands for it.

    A step is text that is typed; `>Name` moves the focus to a control, `<Name` does so backwards,
    `!selector` waits for an element, and one letter after `#` is pressed.
    """

    name: str
    steps: tuple[str, ...]
    goal: str
    commands: tuple[str, ...]


ENTER = f"#{Keys.ENTER}"
TASKS = (
    Task(
        "find a sentence",
        ("feed the starter",),
        ".snippet mark",
        ("kebab search feed the starter",),
    ),
    Task(
        "read the paragraph around it",
        ("feed the starter", "!.snippet mark", ENTER),
        "#reader .passage",
        ("kebab search feed the starter", "kebab fetch sourdough.md:8 --section"),
    ),
    Task(
        "find a sentence of the last 30 days",
        ("starter", "!.snippet", ">Date", ENTER, ">last 30 days", ENTER),
        ".chip",
        ("kebab search starter --since 30d",),
    ),
    Task(
        "find Korean notes only",
        ("김치", "!.snippet", ">Language", ENTER, ">Korean", "# "),
        ".chip",
        ("kebab search 김치 --lang ko",),
    ),
    Task(
        "ask, and check the citation",
        (">Ask", ENTER, "!#question", QUESTION, ENTER, "!.citation", "<2", ENTER),
        "#reader mark.quote",
        (f'kebab ask "{QUESTION}"', "kebab fetch backups.md:19 --section"),
    ),
    Task(
        "see what links to a note",
        ("backups", "!.hits .title", ENTER),
        ".margin .doc-links",
        ("kebab related backups.md",),
    ),
    Task(
        "see the links around it",
        ("backups", "!.hits .title", ENTER, "!#reader .margin", "#4"),
        "canvas",
        ("kebab related backups.md", "kebab related migration.md"),
    ),
    Task(
        "see a mistake and its mending",
        ("database migration", "!.snippet", ENTER, "!.margin", "#r", "!.finding",
         ">Show the change", ENTER),
        ".diff",
        ("kebab review migration.md --no-llm --apply --dry-run",),
    ),
    Task(
        "open a hit in the editor",
        ("database migration", "!.snippet", ENTER, "!.margin", "#o"),
        ".toast:not(:empty)",
        ("kebab search database migration", "kebab open migration.md"),
    ),
    Task(
        "list the notes of a month",
        (">Timeline", ENTER, "!.months", ">August 2025", ENTER),
        ".months [aria-pressed=true]",
        ("kebab list --since 2025-08-01 --until 2025-09-01",),
    ),
)  # fmt: skip
_FOCUS = """const one = document.activeElement;
return (one.tagName === 'INPUT' ? one.closest('label') : one)?.textContent.trim() ?? ''"""


def move_focus(page: Visitor, name: str, key: str) -> int:
    """Press Tab until a control with this name has the focus; return how often."""
    for count in range(1, _MOST_TABS):
        page.driver.switch_to.active_element.send_keys(key)
        if page.run(_FOCUS).startswith(name):
            return count
    raise AssertionError(f"Tab does not reach: {name}")


def use_page(page: Visitor, site: Site, task: Task) -> tuple[int, float]:
    """Return the keystrokes and the seconds of a task on the page."""
    page.driver.get(site.url)
    page.wait_for("#results[aria-busy=false] .title")
    keys, start = 0, time.monotonic()
    for step in task.steps:
        if step[0] == "!":
            page.wait_for(step[1:])
        elif step[0] in "<>":
            back = Keys.SHIFT + Keys.TAB
            keys += move_focus(page, step[1:], Keys.TAB if step[0] == ">" else back)
        else:
            text = step.removeprefix("#")
            page.driver.switch_to.active_element.send_keys(text)
            keys += len(text)
            if len(text) > 1:
                page.wait_for("#results[aria-busy=false]")
    page.wait_for(task.goal)
    return keys, time.monotonic() - start


def use_terminal(site: Site, task: Task) -> tuple[int, float]:
    """Return the keystrokes and the seconds of the commands of a task; each ends with Enter."""
    start = time.monotonic()
    for command in task.commands:
        site.run(*command.replace('"', "").split()[1:])
    return sum(len(command) + 1 for command in task.commands), time.monotonic() - start


def measure() -> Iterator[str]:
    """Yield a row for each task."""
    with tempfile.TemporaryDirectory() as name, fake_ollama("gemma3:4b") as ollama:
        answer = Say("Check the repository first with `restic check` [2].")
        ollama.enqueue(answer, answer)
        environment = {
            "OLLAMA_HOST": ollama.url,
            "KEBAB_MODELS_LLM_MODEL": "gemma3:4b",
            "VISUAL": "true",
        }
        notes = write_notes(Path(name))
        with open_site(Path(name) / "home", notes, environment) as site, open_browser() as page:
            page.resize(1280)
            page.driver.get(site.build_login())
            for task in TASKS:
                keys, seconds = use_page(page, site, task)
                typed, waited = use_terminal(site, task)
                yield f"| {task.name} | {typed} | {waited:.1f} | {keys} | {seconds:.1f} |"


def main() -> None:
    """Print the table."""
    for row in measure():
        print(row, flush=True)  # noqa: T201 - the report


if __name__ == "__main__":
    main()
