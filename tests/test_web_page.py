"""The page in a real browser, with and without a server: games by clicks, slider, links, records, a phone."""

import functools
import http.server
import re
import shutil
import threading
import time

import pytest
from playwright.sync_api import Error, Page, expect, sync_playwright

from saz_jax.play.page.site import write_site
from saz_jax.play.web.house import House
from tests.tiny_agents import tiny_agent
from tests.web_server import Running

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
PATIENCE = 120_000
"""Milliseconds: the first move of each kind compiles."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; apt-get install chromium")


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    for game in ("gomoku", "go"):
        tiny_agent(game, "model3", (5,)).export(folder / f"{game}.npz")
    return {game: str(folder / f"{game}.npz") for game in ("gomoku", "go")}


@pytest.fixture(scope="module")
def server(agents):
    with Running(House("gomoku", 5, list(agents.values()))) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser):
    problems = []
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    made = context.new_page()
    made.set_default_timeout(PATIENCE)
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("console", lambda message: message.type == "error" and problems.append(message.text))
    yield made
    context.close()
    assert not problems


def visit(page: Page, server, link: str) -> None:
    page.goto(server.url + link)
    expect(page.locator("#board .spot").first).to_be_attached(timeout=PATIENCE)
    expect(page.locator("#status")).not_to_be_empty(timeout=PATIENCE)


def stones(page: Page):
    return page.locator("[data-stone]")


def moves(page: Page) -> list[str]:
    found = re.search(r"[&#]m=([^&]*)", page.url)
    return found[1].split(".") if found else []


def play(page: Page, name: str) -> None:
    page.locator(f'[data-move="{name}"]').click()


def wait_for_moves(page: Page, count: int) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while len(moves(page)) < count and time.monotonic() < end:
        page.wait_for_timeout(20)
    assert len(moves(page)) >= count


def test_a_whole_game_of_gomoku_is_played_by_clicks(page, server, agents):
    visit(page, server, f"#g=gomoku&n=5&d=person&l={agents['gomoku']}&s=2&o=%7B%22k%22%3A3%7D")
    expect(page.locator("#status")).to_have_text("Your turn (dark)")
    while not re.search("wins|tie", page.locator("#status").inner_text()):
        before = len(moves(page))
        taken = {move.upper() for move in moves(page)}
        names = [f"{column}{row}" for row in range(1, 6) for column in "ABCDE"]
        play(page, next(name for name in names if name not in taken))
        wait_for_moves(page, before + 1)
        expect(page.locator("#status")).to_have_text(re.compile("Your turn|wins|tie"), timeout=PATIENCE)
    expect(stones(page)).to_have_count(len(moves(page)))
    expect(page.locator("#curve .line")).to_be_attached()
    assert page.locator("#value").get_attribute("aria-valuenow") in ("0", "50", "100")


def test_a_whole_game_of_go_is_played_by_clicks_and_passes(page, server):
    visit(page, server, "#g=go&n=5&d=person&l=person")
    for number, name in enumerate(["C3", "C2", "B2", "D3", "D2"], start=1):
        play(page, name)
        wait_for_moves(page, number)
    expect(stones(page)).to_have_count(5)
    for number in (6, 7):
        page.locator("#pass").click()
        wait_for_moves(page, number)
    expect(page.locator("#status")).to_have_text(re.compile(r"wins \([BW]\+"))
    assert moves(page)[-2:] == ["pass", "pass"]


def test_an_agent_answers_in_go(page, server, agents):
    visit(page, server, f"#g=go&n=5&d=person&l={agents['go']}&s=2")
    play(page, "C3")
    wait_for_moves(page, 2)
    expect(page.locator("#status")).to_have_text(re.compile("Your turn"), timeout=PATIENCE)


def test_the_slider_undo_redo_and_a_shared_link(page, browser, server):
    visit(page, server, "#g=gomoku&n=5&d=person&l=person")
    slider = page.locator("#side")
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("5", "25")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#title")).to_have_text("Gomoku 6x6")
    play(page, "F6")
    wait_for_moves(page, 1)
    play(page, "A1")
    wait_for_moves(page, 2)
    page.locator("#undo").click()
    expect(stones(page)).to_have_count(1)
    page.locator("#redo").click()
    expect(stones(page)).to_have_count(2)
    expect(page.locator('[data-stone="A1 light"] .last')).to_be_attached()
    other = browser.new_page()
    other.set_default_timeout(PATIENCE)
    visit(other, server, page.url[len(server.url) :])
    expect(stones(other)).to_have_count(2)
    assert moves(other) == ["F6", "A1"]
    other.locator("#undo").click()
    expect(stones(other)).to_have_count(1)
    expect(stones(page)).to_have_count(2)
    other.close()
    page.locator("#new").click()
    expect(stones(page)).to_have_count(0)
    page.go_back()
    expect(stones(page)).to_have_count(2)


def test_the_brush_removes_points_and_the_board_is_played_at_once(page, server):
    visit(page, server, "#g=gomoku&n=6&d=person&l=person")
    page.locator("#brush").click()
    first, last = (page.locator(f'[data-move="{name}"]').bounding_box() for name in ("B2", "D2"))
    middle = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (first, last)]
    page.mouse.move(*middle[0])
    page.mouse.down()
    page.mouse.move(*middle[1], steps=8)
    page.mouse.up()
    expect(page.locator("#title")).to_have_text("Gomoku 33 points of 6x6")
    page.locator("#brush").click()
    assert page.locator('[data-move="C2"]').count() == 0
    play(page, "C3")
    wait_for_moves(page, 1)
    assert "h=oooooo-oxxxoo" in page.url
    page.reload()
    expect(stones(page)).to_have_count(1)
    page.locator("#whole").click()
    expect(page.locator("#title")).to_have_text("Gomoku 6x6")


def test_the_keyboard_plays(page, server):
    visit(page, server, "#g=gomoku&n=5&d=person&l=person")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    wait_for_moves(page, 1)
    assert moves(page) == ["D4"]
    page.keyboard.press("u")
    expect(stones(page)).to_have_count(0)


def test_a_phone_shows_everything_without_scrolling_sideways(browser, server):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, color_scheme="dark"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    visit(page, server, "#g=gomoku&n=5&d=person&l=person")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator("#board").bounding_box()
    assert box["width"] > 350
    page.locator('[data-move="C3"]').tap()
    wait_for_moves(page, 1)
    # Points that are too small for a finger are aimed at first, then confirmed.
    visit(page, server, "#g=hex&n=19&d=person&l=person")
    page.reload()
    expect(page.locator("#title")).to_have_text("Hex 19x19")
    page.locator('[data-move="J10"]').tap()
    expect(page.locator("#board .preview")).to_be_attached()
    assert moves(page) == []
    page.locator('[data-move="J10"]').tap()
    wait_for_moves(page, 1)
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    context.close()


def test_analysis_and_subgraphs_are_shown_while_it_thinks(page, server, agents):
    visit(page, server, f"#g=gomoku&n=5&d=person&l={agents['gomoku']}&s=2")
    page.locator("#analyse").check()
    expect(page.locator("#candidates tbody tr").first).to_be_attached(timeout=PATIENCE)
    expect(page.locator("#board .warm.visits").first).to_be_attached()
    page.locator('[data-view="prior"]').click()
    expect(page.locator("#board .warm.prior").first).to_be_attached()
    page.locator("#candidates tbody tr").first.hover()
    expect(page.locator("#board .ghost").first).to_be_attached()
    page.locator('[data-view="subgraphs"]').click()
    expect(page.locator("#which")).to_have_text(re.compile("1 of 2: plays"), timeout=PATIENCE)
    expect(page.locator("#board .outside").first).to_be_attached()
    page.locator('[data-view="spread"]').click()
    expect(page.locator("#explained")).to_have_text(re.compile(r"Disagreement: \d+%"))
    page.locator('[data-view="ownership"]').click()
    expect(page.locator("#explained")).to_have_text(re.compile("does not predict ownership"))


def test_two_players_play_while_people_watch_and_pause(page, server):
    visit(page, server, "#g=gomoku&n=5&d=random&l=random")
    wait_for_moves(page, 2)
    page.locator("#pause").click()
    expect(page.locator("#status")).to_have_text(re.compile("paused"))
    page.locator("#dark").select_option("person")
    page.locator("#light").select_option("person")
    expect(page.locator("#seat-dark b")).to_have_text("You")


def test_records_are_downloaded_and_uploaded(page, server, tmp_path):
    visit(page, server, "#g=hex&n=4&d=person&l=person")
    play(page, "B2")
    wait_for_moves(page, 1)
    with page.expect_download() as download:
        page.locator("#save").click()
    record = tmp_path / "game.sgf"
    download.value.save_as(record)
    assert "GM[11]" in record.read_text()
    page.locator("#undo").click()
    expect(stones(page)).to_have_count(0)
    page.locator("#load").set_input_files(record)
    expect(stones(page)).to_have_count(1)


def test_a_server_that_comes_back_finds_the_game_again(page, server):
    visit(page, server, "#g=gomoku&n=5&d=person&l=person")
    play(page, "A1")
    wait_for_moves(page, 1)
    for connection in list(server.server.server_state.connections):
        connection.shutdown()
    expect(page.locator("#chip")).to_have_text("ready", timeout=PATIENCE)
    page.wait_for_timeout(1500)
    play(page, "B2")
    wait_for_moves(page, 2)
    assert moves(page) == ["A1", "B2"]


def test_a_page_of_another_origin_cannot_drive_the_server(browser, server):
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url.replace("127.0.0.1", "localhost"))
    code = """host => new Promise(done => {
        const socket = new WebSocket(`ws://${host}/talk`);
        socket.onopen = () => done("open"); socket.onerror = () => done("refused"); })"""
    try:
        assert page.evaluate(code, server.host) == "refused"
    except Error as error:  # the policy of the page refuses it before it is sent
        assert "Content Security Policy" in str(error)  # noqa: PT017
    context.close()


class Silent(http.server.SimpleHTTPRequestHandler):
    """A plain server of files."""

    def log_message(self, format, *args):
        pass


class Files:
    """Where the page is."""

    def __init__(self, port: int):
        self.url = f"http://127.0.0.1:{port}/somewhere/"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("host")
    agents = {name: tiny_agent(name, "model3", (5,)) for name in ("gomoku", "go")}
    write_site(folder / "somewhere", agents, (5, 7), report=lambda line: None)
    handler = functools.partial(Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Files(server.server_port)
        server.shutdown()
        thread.join()


def test_a_page_of_files_plays_without_a_server(page, files):
    visit(page, files, "#g=gomoku&n=5&d=person&l=gomoku&s=8")
    for count in (1, 2, 3):
        taken = {name.upper() for name in moves(page)}
        names = [f"{column}{row}" for row in range(1, 6) for column in "CBADE"]
        play(page, next(name for name in names if name not in taken))
        wait_for_moves(page, 2 * count)
    expect(stones(page)).to_have_count(6)
    expect(page.locator("#curve .line")).to_be_attached()
    page.locator("#undo").click()
    expect(stones(page)).to_have_count(4)
    page.locator("#analyse").click()
    expect(page.locator("#candidates tbody tr").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#board .warm").first).to_be_attached()
    assert page.locator('[data-view="subgraphs"]').is_hidden()


def test_the_slider_stops_at_the_sides_that_there_are_and_links_open_games(page, files, browser):
    visit(page, files, "#g=go&n=5&d=person&l=person&m=C3.C2")
    expect(stones(page)).to_have_count(2)
    with page.expect_download() as download:
        page.locator("#save").click()
    record = download.value.path().read_text()
    assert ";B[cc];W[cb])" in record
    page.locator("#side").fill("6")
    expect(page.locator("#title")).to_have_text("Go 5x5")
    page.locator("#side").fill("7")
    expect(page.locator("#title")).to_have_text("Go 7x7")
    expect(page.locator("#board .spot")).to_have_count(49)
    page.locator("#load").set_input_files(
        {"name": "a.sgf", "mimeType": "text/plain", "buffer": record.encode()}
    )
    expect(stones(page)).to_have_count(2)
    other = browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True)
    visit(other, files, page.url.split("somewhere/")[1])
    expect(stones(other)).to_have_count(2)
    assert other.evaluate("document.documentElement.scrollWidth") <= 360
    other.locator('[data-move="D4"]').tap()
    expect(stones(other)).to_have_count(3)
    other.close()
