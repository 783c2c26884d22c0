"""A server of the page in a home of its own, and the system's Chromium that visits it."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tools.home import build_environment

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
_START_S = 60
_WAIT_S = 20
_PAUSE_S = 0.02
_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # containers forbid what it needs
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


class Site:
    """A server of the page.

    Args:
        home: The folder of its settings, index and log.
        environment: Variables that replace those of an empty home.
        flags: Flags of `kebab serve`.
    """

    def __init__(
        self, home: Path, environment: dict[str, str] | None = None, flags: tuple[str, ...] = ()
    ) -> None:
        self.environment = {**build_environment(home), **(environment or {})}
        self._flags = flags
        self._process: subprocess.Popen[str] | None = None
        self.url = ""
        self.notes = Path()

    def run(self, *words: str) -> str:
        """Run a command of kebab in the home; return its output."""
        command = [sys.executable, "-m", "kebab", *words]
        result = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=True
        )
        return result.stdout.strip()

    def start(self, port: int = 0) -> None:
        """Start the server, and wait until it listens."""
        words = ["serve", "--port", str(port), "--json", *self._flags]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kebab", *words],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        for line in self._process.stderr:
            event = json.loads(line)
            if event["schema_version"] == "http_server_started.v1":
                self.url = event["url"]
                return
        raise RuntimeError(f"the server ended with {self._process.wait(_START_S)}")

    def stop(self) -> None:
        """End the server, and wait until it has ended."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_START_S)
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process = None

    def build_login(self) -> str:
        """Return an address that lets a browser in once."""
        return self.run("open", "--web", "--print")


class Visitor:
    """A browser window, and what it logged and requested."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        self.errors: list[str] = []
        self.addresses: list[str] = []

    def run(self, script: str, *values: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *values)

    def resize(self, width: int, height: int = 800) -> None:
        """Set the size of the window in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme: str) -> None:
        """Prefer `light` or `dark` colours, and less motion."""
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        rows = [{"name": name, "value": value} for name, value in features.items()]
        self.command("Emulation.setEmulatedMedia", features=rows)

    def command(self, name: str, **values: Any) -> Any:
        """Run a command of the browser's protocol."""
        return self.driver.execute_cdp_cmd(name, values)

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        """Return the first true value of a condition."""
        end = time.monotonic() + _WAIT_S
        while time.monotonic() < end:
            if found := condition():
                return found
            time.sleep(_PAUSE_S)
        raise AssertionError(
            f"not within {_WAIT_S} s: {what}; {self.run('return document.body.innerText')}"
        )

    def wait_for(self, selector: str, text: str = "") -> Any:
        """Wait for an element with a text; return its text."""
        script = """return [...document.querySelectorAll(arguments[0])]
            .map(one => one.textContent).find(one => one.includes(arguments[1]))"""
        return self.wait(lambda: self.run(script, selector, text) is not None, f"{selector} {text}")

    def find_violations(self) -> list[list[Any]]:
        """Return what axe finds: the rule and the elements of each violation."""
        axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        self.run(axe)
        found: list[list[Any]] = self.driver.execute_async_script(
            "const end = arguments[0]; axe.run().then(one => end(one.violations.map(row => "
            "[row.id, row.nodes.map(node => node.html)])))"
        )
        return found

    def drain_logs(self) -> None:
        """Collect what the console says of errors, and every address that was requested."""
        for row in self.driver.get_log("browser"):
            if row["level"] == "SEVERE":
                self.errors.append(row["message"])
        for row in self.driver.get_log("performance"):
            message = json.loads(row["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.addresses.append(message["params"]["request"]["url"])


@contextmanager
def open_browser(*, logs: bool = False) -> Iterator[Visitor]:
    """Open a headless browser; with `logs` it remembers its console and its requests."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in _FLAGS:
        options.add_argument(flag)
    if logs:
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(DRIVER, env={**os.environ})
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Visitor(driver)
    finally:
        driver.quit()


@contextmanager
def open_site(
    home: Path,
    notes: Path,
    environment: dict[str, str] | None = None,
    flags: tuple[str, ...] = (),
) -> Iterator[Site]:
    """Index notes, and serve them until the end."""
    site = Site(home, environment, flags)
    site.notes = notes
    site.run("ingest", str(notes))
    site.start()
    try:
        yield site
    finally:
        site.stop()
