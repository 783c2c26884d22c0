"""Measures the page over a folder: `python -m tools.page.speed FOLDER QUERY...`.

It prints the size of the assets, the first paint, and the time from the last letter of a query to
its hits on the screen: medians, with the smallest and the largest of all turns. Then it counts what
axe and the console complain of, and the requests to other hosts.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from kebab.web import __file__ as _web
from tools.page.browser import Site, Visitor, open_browser, open_site

TURNS = 7
_PAINT = """return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"""
_TYPE = """
const [query, end] = arguments;
const field = document.getElementById('q');
const results = document.getElementById('results');
const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
const start = performance.now();
let wasBusy = false;
const watcher = new MutationObserver(() => {
  const isBusy = results.getAttribute('aria-busy') === 'true';
  wasBusy ||= isBusy;
  if (isBusy || !wasBusy) return;
  watcher.disconnect();
  requestAnimationFrame(() => setTimeout(() => end(performance.now() - start)));
});
watcher.observe(results, {attributes: true});
set.call(field, query);
field.dispatchEvent(new Event('input', {bubbles: true}));
"""
VIEWS = ("search", "ask", "timeline", "graph", "status")


def describe(name: str, values: Sequence[float], unit: str = "ms") -> str:
    """Return the median of values, and their range."""
    low, high = min(values), max(values)
    return (
        f"{name:<28} {median(values):8.1f} {unit}  ({low:.1f} to {high:.1f}, {len(values)} turns)"
    )


def measure_size() -> int:
    """Return the bytes of all assets."""
    return sum(one.stat().st_size for one in (Path(_web).parent / "static").iterdir())


def measure_paint(page: Visitor, site: Site, query: str) -> list[float]:
    """Return the times from a visit to the first text of a page with hits."""
    found = []
    for _ in range(TURNS):
        page.driver.get(f"{site.url}/?q={query}")
        page.wait_for("#bar nav a", "Status")
        found.append(float(page.wait(lambda: page.run(_PAINT), "a paint")))
    return found


def measure_search(page: Visitor, site: Site, queries: Sequence[str]) -> list[float]:
    """Return the times from the last letter to the hits on the screen."""
    page.driver.get(site.url)
    page.wait_for("#results[aria-busy=false] .summary")
    found = []
    for query in [*queries] * TURNS:
        page.driver.execute_async_script(_TYPE, query[:-1])
        found.append(float(page.driver.execute_async_script(_TYPE, query)))
    return found[len(queries) :]  # the first turn warms the server


def count_faults(page: Visitor, site: Site, query: str) -> str:
    """Return the faults of all views with an open document, light and dark."""
    page.drain_logs()
    rows: list[Any] = []
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        page.driver.get(f"{site.url}/?q={query}")
        page.wait_for("#results[aria-busy=false] .title")
        page.run("document.querySelector('.hits .title').click()")
        page.wait_for("#reader .margin")
        for key in range(1, len(VIEWS) + 1):
            page.driver.switch_to.active_element.send_keys(str(key))
            page.wait_for(f"main.{VIEWS[key - 1]}")
            rows += page.find_violations()
    page.drain_logs()
    away = [one for one in page.addresses if not one.startswith((site.url, "data:"))]
    return (
        f"{len(rows)} axe violations in {2 * len(VIEWS)} views, {len(page.errors)} console errors,"
        f" {len(away)} of {len(page.addresses)} requests to other hosts"
    )


def main() -> None:
    """Print the figures."""
    notes, *queries = sys.argv[1:]
    print(f"{'assets':<28} {measure_size():8,} bytes")  # noqa: T201 - the report
    with (
        tempfile.TemporaryDirectory() as name,
        open_site(Path(name), Path(notes)) as site,
        open_browser(logs=True) as page,
    ):
        page.resize(1280)
        page.driver.set_script_timeout(30)
        page.driver.get(site.build_login())
        print(describe("first paint", measure_paint(page, site, queries[0])))  # noqa: T201 - the report
        print(describe("last letter to hits", measure_search(page, site, queries)))  # noqa: T201 - the report
        print(count_faults(page, site, queries[0]))  # noqa: T201 - the report


if __name__ == "__main__":
    main()
