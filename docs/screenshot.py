"""Take the picture of the web page that the README shows; `make figures` does it last.

It opens a game of Gomoku on 19x19 in `saz web`, lets the player move for both sides, and then analyse.  Needs
Chromium.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

PATH = Path(__file__).parent / "images" / "web.png"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
GAME = "#g=gomoku&n=19&d=person&l=gomoku&m=J10.K9"
MOVES = 12
"""Stones on the board that is shown."""
VIEW = "visits"
SIMULATIONS = 400
"""The list of moves is taken once the analysis has as many."""
PATIENCE = 400_000
"""Milliseconds."""


def main() -> None:
    """Writes the picture."""
    chromium = shutil.which("chromium") or sys.exit("install Chromium: the picture of the web page needs it")
    command = [sys.executable, "-m", "saz_jax.cli.main", "web", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().split()[0]
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(PATIENCE)
            page.goto(f"{url}{GAME}")
            expect(page.locator("#status")).to_have_text("Your turn (dark)", timeout=PATIENCE)
            for stones in range(4, MOVES + 1, 2):
                page.locator("#go").click()
                page.wait_for_function(
                    "stones => location.hash.split('m=')[1].split('.').length === stones", arg=stones
                )
            page.locator("#analyse").check()
            page.locator(f'[data-view="{VIEW}"]').click()
            enough = "least => parseInt(document.querySelector('#effort').textContent) >= least"
            page.wait_for_function(enough, arg=SIMULATIONS, timeout=PATIENCE)
            page.mouse.move(5, 5)
            page.screenshot(path=PATH)
            browser.close()
    finally:
        server.terminate()
    print(PATH.relative_to(PATH.parents[2]))


if __name__ == "__main__":
    main()
