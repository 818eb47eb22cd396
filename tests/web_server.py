"""A running web server for tests, in a thread of this process, so that compiled programs are shared."""

import contextlib
import threading
import time

import uvicorn

from saz_jax.play.web.house import House
from saz_jax.play.web.server import listen, serve


class Running:
    """A server on a free port of the loopback."""

    def __init__(self, house: House):
        self.house = house
        self._socket = listen("127.0.0.1", 0)
        self.port = self._socket.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}/"
        self.server: uvicorn.Server | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        serve(self.house, self._socket, started=lambda server: setattr(self, "server", server))

    def __enter__(self):
        self._thread.start()
        while self.server is None or not self.server.started:
            time.sleep(0.02)
        assert self.house.ready.wait(120)
        return self

    def __exit__(self, *_):
        assert self.server is not None
        self.server.should_exit = True
        self._thread.join(20)
        with contextlib.suppress(OSError):
            self._socket.close()
