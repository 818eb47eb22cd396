"""Faces driven by lines in memory."""

import io


class Script:
    """Lines that are all there from the start: a search is stopped at once by what comes next."""

    def __init__(self, lines):
        self._lines = iter(lines)

    def next(self, idle=lambda: None):
        return next(self._lines, None)

    def is_set(self):
        return True

    def wait(self):
        pass


def converse(make, session, lines):
    """What a face says to `lines`; `make(open_session, lines, out)` makes it."""
    out = io.StringIO()
    make(lambda: session, Script(lines), out).run()
    return out.getvalue()
