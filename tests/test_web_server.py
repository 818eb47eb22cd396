"""The web server: who may talk to it, what it survives, and that it answers before jax is imported."""

import asyncio
import concurrent.futures
import http.client
import json
import re
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
import websockets
from websockets.sync.client import connect
from websockets.typing import Origin

from saz_jax.play.web.guard import Guard
from saz_jax.play.web.house import MAX_TABLES, House
from saz_jax.play.web.messages import MAX_MESSAGE
from saz_jax.play.web.server import STATIC
from tests.tiny_agents import tiny_agent
from tests.web_server import Running

SIDE = 4


@pytest.fixture(scope="module")
def agent_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("agents") / "tiny.npz"
    tiny_agent("othello", "model3", (SIDE,)).export(path)
    return str(path)


@pytest.fixture(scope="module")
def server(agent_file):
    with Running(House("othello", SIDE, [agent_file])) as running:
        yield running


def talk(server, **more):
    return connect(f"ws://{server.host}/talk", origin=Origin(f"http://{server.host}"), **more)


def get(server, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def until(socket, kind, seconds=60):
    """The next event of a kind."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        event = json.loads(socket.recv(timeout=seconds))
        if event["is"] == kind:
            return event
    raise AssertionError(f"no {kind} in time")


def opening(**more):
    return json.dumps(
        {"do": "open", "game": "othello", "size": SIDE, "dark": "person", "light": "person", **more}
    )


def test_every_file_of_the_page_is_served_with_safe_headers(server):
    for name in ["", *(path.name for path in STATIC.iterdir())]:
        answer, body = get(server, f"/{name}")
        assert answer.status == 200
        assert body == (STATIC / (name or "index.html")).read_bytes()
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_the_page_has_no_inline_code_and_loads_nothing_from_elsewhere():
    for path in STATIC.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z0-9.-]+\.[a-z]{2,}/", text), path.name
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=|javascript:", page)


@pytest.mark.parametrize("path", ["/nothing", "/../server.py", "/%2e%2e/server.py", "//etc/passwd", "/talk"])
def test_nothing_else_is_served(server, path):
    answer, body = get(server, path)
    assert answer.status == 404
    assert b"import" not in body


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost.evil:80"])
def test_other_host_names_are_refused(server, host):
    answer, _ = get(server, Host=host)
    assert answer.status in (400, 421)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    answer, _ = get(server, "/talk", Host=host, Origin=f"http://{host}", **upgrade, **key)
    assert answer.status in (400, 403)


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1:{}", "[::1]:{}"])
def test_names_of_this_machine_are_served(server, host):
    answer, _ = get(server, Host=host.format(server.port))
    assert answer.status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost", "null", "file://", None])
def test_pages_of_other_origins_open_no_socket(server, origin):
    with pytest.raises(websockets.InvalidStatus) as refused:
        connect(f"ws://{server.host}/talk", origin=origin)
    assert refused.value.response.status_code == 403
    if origin:
        assert get(server, Origin=origin)[0].status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_get_is_answered(server, method):
    assert get(server, method=method)[0].status == 405


def test_a_server_for_everybody_knows_addresses_and_names_that_it_was_given():
    guard = Guard(None, "0.0.0.0", ("play.example",))
    assert guard.knows("192.168.1.7:8080")
    assert guard.knows("[fe80::1]:8080")
    assert guard.knows("play.example")
    assert not guard.knows("evil.example:8080")
    assert not Guard(None, "127.0.0.1").knows("192.168.1.7:8080")


def test_a_tab_gets_its_game(server):
    with talk(server) as socket:
        welcome = until(socket, "welcome")
        assert {about["name"] for about in welcome["games"]} >= {"othello", "gomoku", "go", "hex"}
        socket.send(opening())
        assert until(socket, "game")["moves"] == []
        socket.send("junk")
        assert "JSON" in until(socket, "error")["text"]
        socket.send(b"\xff\x00")
        assert until(socket, "error")
        socket.send(json.dumps({"do": "play", "move": "B1"}))
        assert until(socket, "game")["moves"] == ["B1"]


def test_a_message_that_is_too_long_ends_its_own_socket_only(server):
    with talk(server) as socket:
        until(socket, "welcome")
        socket.send("x" * (MAX_MESSAGE + 1))
        with pytest.raises(websockets.ConnectionClosed):
            until(socket, "never")
    assert get(server)[0].status == 200


def test_tabs_do_not_disturb_each_other(server):
    with talk(server) as one, talk(server) as other:
        for socket, size in ((one, SIDE), (other, 6)):
            until(socket, "welcome")
            socket.send(
                json.dumps(
                    {"do": "open", "game": "othello", "size": size, "dark": "person", "light": "person"}
                )
            )
        assert until(one, "game")["size"] == SIDE
        assert until(other, "game")["size"] == 6
        one.send(json.dumps({"do": "play", "move": "B1"}))
        assert until(one, "game")["moves"] == ["B1"]
        other.send(json.dumps({"do": "undo"}))
        assert "nothing to take back" in until(other, "error")["text"]


def tables():
    return [thread for thread in threading.enumerate() if thread.name == "table"]


def test_a_client_that_leaves_in_the_middle_of_a_search_frees_it(server, agent_file):
    with talk(server) as socket:
        until(socket, "welcome")
        socket.send(opening(dark=agent_file, simulations=100000))
        until(socket, "analysis")
        assert tables()
        socket.socket.shutdown(2)  # no good-bye, as when a browser is killed
        end = time.monotonic() + 5
        while tables() and time.monotonic() < end:
            time.sleep(0.05)
        assert not tables()
    assert get(server)[0].status == 200


def test_two_hundred_requests_at_once_are_answered(server):
    names = [path.name for path in STATIC.iterdir()] + ["status", ""]
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        jobs = [pool.submit(get, server, f"/{names[i % len(names)]}") for i in range(200)]
        assert {job.result()[0].status for job in jobs} == {200}


def test_two_hundred_tabs_at_once_are_seated_or_told_that_there_is_no_room(server):
    async def visit():
        address = f"ws://{server.host}/talk"
        async with websockets.connect(
            address, origin=Origin(f"http://{server.host}"), open_timeout=120
        ) as socket:
            while True:
                event = json.loads(await asyncio.wait_for(socket.recv(), 120))
                if event["is"] == "welcome":
                    await all_there.wait()
                    return "seated"
                if event["is"] == "error":
                    refused.append(event["text"])
                    if len(refused) == 200 - MAX_TABLES:
                        all_there.set()
                    return "refused"

    async def visit_all():
        return await asyncio.gather(*(visit() for _ in range(200)))

    end = time.monotonic() + 5
    while tables() and time.monotonic() < end:
        time.sleep(0.05)
    refused, all_there = [], asyncio.Event()
    found = asyncio.run(visit_all())
    assert found.count("seated") == MAX_TABLES
    assert set(refused) == {"too many tabs are open; close one and reload"}
    with talk(server) as socket:
        assert until(socket, "welcome")


@pytest.fixture(scope="module")
def command():
    """`saz web` as people start it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "saz_jax.cli.main", "web", "--port", "0", "--game", "othello"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def test_the_command_answers_before_jax_is_there_and_ends_on_interrupt(command):
    url = command.stdout.readline().split()[0]
    first = json.loads(urllib.request.urlopen(f"{url}status").read())
    assert first["ready"] is False
    assert b"<!doctype html>" in urllib.request.urlopen(url).read()
    command.send_signal(2)
    assert command.wait(20) == 0


def test_the_server_is_loaded_without_jax():
    script = "import sys, saz_jax.cli.web; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--port", "99999"], "use 0 to 65535"),
        (["--simulations", "0"], "too few"),
        (["--seconds", "-1"], "no time"),
    ],
)
def test_mistakes_on_the_command_line_are_one_sentence(words, problem):
    command = [sys.executable, "-m", "saz_jax.cli.main", "web", "--no-open", *words]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert problem in run.stderr
    assert "Traceback" not in run.stderr
