"""`Progress`: one line that says how far long work is and when it ends, on standard error.

    record     [#########...........]  151/342  0:00:07 left  tile/64B/r3/c0/b896

>>> import io
>>> stream = io.StringIO()
>>> with Progress("record", total=2, stream=stream) as progress:
...     progress.advance(2, "done")
>>> stream.getvalue().split()[:3]
['record', '[####################]', '2/2']

On a terminal the line is redrawn in place; in a log it is a new line, at most every five seconds.
"""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from types import TracebackType
from typing import Self, TextIO

_WIDTH = 20


class Progress:
    """Counts `total` steps of work called `label`. A context manager: the last state is always printed."""

    def __init__(self, label: str, total: int, *, done: int = 0, stream: TextIO | None = None):
        self._label, self._total, self._done, self._skipped = label, total, done, done
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._started, self._printed, self._note = time.monotonic(), 0.0, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._print()
        if self._terminal:
            self._stream.write("\n")
        self._stream.flush()

    def advance(self, steps: int = 1, note: str = "") -> None:
        """`steps` more are done; `note` names the last one."""
        self._done, self._note = self._done + steps, note
        if time.monotonic() - self._printed >= (0.1 if self._terminal else 5.0):
            self._print()

    def _print(self) -> None:
        self._printed = time.monotonic()
        share = self._done / self._total if self._total else 1.0
        bar = "#" * round(_WIDTH * share)
        line = f"{self._label:<12}[{bar:.<{_WIDTH}}] {self._done:>6}/{self._total}  {self._left()}{self._note}".rstrip()
        self._stream.write(f"\r{line[:119]:<119}" if self._terminal else f"{line}\n")
        self._stream.flush()

    def _left(self) -> str:
        """Time to go, from the pace of what was done in this run; nothing before there is a pace."""
        worked, elapsed = self._done - self._skipped, time.monotonic() - self._started
        if not 0 < worked or self._done >= self._total or elapsed < 1:
            return ""
        return f"{timedelta(seconds=round(elapsed / worked * (self._total - self._done)))} left  "
