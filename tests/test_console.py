"""Shared behaviour of the command lines."""

import signal
import subprocess
import sys
import time
import warnings

import jax
import pytest

from saz_jax.cli.console import plain_errors

REMEDY = "use fewer games at once, smaller boards or fewer simulations"


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("pass", False),
        ("sys.exit(2)", False),
        ("raise RuntimeError('lost')", True),
        ("os.kill(os.getpid(), 9)", True),
    ],
)
def test_only_a_sudden_end_is_explained(end, told):
    code = (
        f"import os, sys; from saz_jax.cli.console import explain_sudden_end; explain_sudden_end('ah'); {end}"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ended.stderr.strip().splitlines()[-1:] == ["ah"]) == told


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("sizes=0"), "error: sizes=0\n"),
        (MemoryError(), f"error: Out of memory; {REMEDY}\n"),
        (
            jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 4216993911840 bytes."),
            f"error: Out of memory allocating 4216993911840 bytes; {REMEDY}\n",
        ),
    ],
)
def test_what_a_user_can_mend_is_one_sentence(error, told, capsys):
    with pytest.raises(SystemExit) as ended, plain_errors():
        raise error
    assert ended.value.code == 2
    assert capsys.readouterr().err == told


def test_a_warning_is_one_sentence():
    shown = (UserWarning("trained with k=5"), UserWarning, "agent.py", 7)
    with plain_errors():
        assert warnings.formatwarning(*shown) == "warning: trained with k=5\n"
    assert "agent.py:7" in warnings.formatwarning(*shown)


def test_what_nobody_expects_keeps_its_traceback():
    with pytest.raises(jax.errors.JaxRuntimeError), plain_errors():
        raise jax.errors.JaxRuntimeError("INTERNAL: a bug")


@pytest.mark.parametrize("delay", ["atexit.register(time.sleep, 600)", "slow = Slow()"])
def test_a_process_that_was_stopped_ends_even_if_something_keeps_it(delay):
    code = f"""
import atexit, os, signal, time
from saz_jax.cli import console
console.LAST_SECONDS = 0.5
signal.signal(signal.SIGINT, signal.default_int_handler)

class Slow:  # as a computation in the background, which keeps the teardown of modules waiting
    def __del__(self, sleep=time.sleep):
        sleep(600)

{delay}
with console.stops_soon("stopped"):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 130
    assert ended.stderr == "stopped\n"


BUSY = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)"
"""A call into C that returns after many minutes, as a compiled program does."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("work", [BUSY, "time.sleep(600)"])
def test_a_signal_ends_even_a_long_call_within_seconds(number, work):
    code = f"""
import signal, time
from saz_jax.cli.console import stops_soon
signal.signal(signal.SIGINT, signal.default_int_handler)
with stops_soon("stopped; go on"):
    print("ready", flush=True)
    {work}
"""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    began = time.monotonic()
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert errors == "stopped; go on\n"
