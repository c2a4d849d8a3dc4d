"""The progress line is redrawn on a terminal and counted out in a log."""

from __future__ import annotations

import io

from tmalab.recordings.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line():
    stream = Terminal()
    with Progress("record", 3, stream=stream) as progress:
        for name in ("a", "b", "c"):
            progress.advance(1, name)
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().split("\r")[-1].split() == ["record", "[####################]", "3/3", "c"]


def test_a_log_has_a_line_now_and_then_and_the_last():
    stream = io.StringIO()
    with Progress("record", 1000, stream=stream) as progress:
        for number in range(1000):
            progress.advance(1, str(number))
    lines = stream.getvalue().splitlines()
    assert len(lines) <= 3
    assert "1000/1000" in lines[-1]


def test_work_done_before_counts_in_the_bar():
    stream = io.StringIO()
    with Progress("record", 4, done=2, stream=stream):
        pass
    assert "[##########..........]" in stream.getvalue()


def test_an_interruption_still_prints_the_state():
    stream = io.StringIO()
    try:
        with Progress("record", 4, stream=stream) as progress:
            progress.advance(1, "a")
            progress.advance(1, "b")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert "2/4" in stream.getvalue()


def test_nothing_to_do_is_done():
    stream = io.StringIO()
    with Progress("record", 0, stream=stream):
        pass
    assert "0/0" in stream.getvalue()
