"""`tmalab banks`: a tile's access, an expression or addresses; the chart, the wavefronts, the price and the remedy."""

import io
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab.cli import main
from tmalab.cli.banks import chart, runs
from tmalab.model.banks import conflict_degree


def said(capsys, *words):
    """Exit code and what was printed."""
    code = main(["banks", *words])
    return code, capsys.readouterr()


def as_json(capsys, *words):
    code, printed = said(capsys, *words, "--json")
    return code, json.loads(printed.out)


def test_a_column_conflicts_is_measured_and_can_be_padded(capsys):
    code, printed = said(capsys, "column")
    lines = printed.out.splitlines()
    assert code == 1
    assert lines[0] == "32-way conflict: 32 wavefronts, 1 at the least; 32 cycles an access"
    assert lines[1].startswith("measured: 32 wavefronts, 32.0")
    assert "NVIDIA H200" in lines[2]
    assert "… 24 more (--all)" in lines
    assert lines[-1].startswith("No swizzle frees it: 128B leaves 4-way. 4 bytes of padding")
    assert said(capsys, "column", "--padding", "4")[0] == 0


def test_the_chart_stands_on_its_banks(capsys):
    _, printed = said(capsys, "column", "--width", "16", "--swizzle", "64B")
    bars = [line[7:] for line in printed.out.splitlines()[4:8]]
    assert bars == ["█ " * 15 + "█"] * 4
    assert printed.out.splitlines()[4][:5] == "    8"
    assert printed.out.splitlines()[8] == "bank   0       4       8       12      16      20      24      28"


def test_bars_are_as_high_as_their_words():
    answer = {"waves": [{"words": [0, 32, 64, 96, 1, 33, 2]}]}
    lines = [line[7:].ljust(6) for line in chart(answer)[:4]]
    assert [line[0] for line in lines] == ["█"] * 4
    assert [line[2] for line in lines] == [" ", " ", "█", "█"]
    assert [line[4] for line in lines] == [" ", " ", " ", "█"]


def test_every_wavefront_is_listed_when_asked_for(capsys):
    assert said(capsys, "column", "--all")[1].out.count("\n") > 32 + 8
    assert "more (--all)" not in said(capsys, "column", "--all")[1].out
    assert "bank   0" not in said(capsys, "column", "--no-chart")[1].out


@pytest.mark.parametrize(
    ("words", "degree", "count", "op", "width"),
    [
        (["ldmatrix"], 8, 32, "ldmatrix_x4", 16),
        (["ldmatrix_trans", "--swizzle", "128B"], 1, 4, "ldmatrix_x4_trans", 16),
        (["row", "--dtype", "float64"], 1, 2, "load", 8),
        (["column", "--dtype", "float16", "--op", "store"], 32, 32, "store", 2),
        (["diagonal", "--rows", "8", "--row-bytes", "64", "--base", "128"], 1, 1, "load", 4),
        (["4*((lane*32)^(lane&31))"], 1, 1, "load", 4),
        (["4*((lane*32)^(lane&7))"], 4, 4, "load", 4),
        (["(lane*128)^((lane&7)<<4)"], 4, 4, "load", 4),
        (["lane, 0", "--width", "16", "--swizzle", "128B"], 1, 4, "load", 16),
        (["--addresses", "0,128,256"], 3, 3, "load", 4),
        (["--addresses", "[0x0 128; x, 0]"], 2, 2, "load", 4),
        (["--addresses", "0 128 256 384 512 640 768 896", "--op", "stmatrix_x1"], 8, 8, "stmatrix_x1", 16),
    ],
)  # fmt: skip
def test_each_question_has_its_answer(capsys, words, degree, count, op, width):
    code, answer = as_json(capsys, *words)
    assert (answer["degree"], answer["count"], answer["op"], answer["width_bytes"]) == (degree, count, op, width)
    assert code == int(degree > 1)
    assert (answer["tile"] is None) == ("--addresses" in words)


def test_json_says_what_was_measured_and_where(capsys):
    _, answer = as_json(capsys, "ldmatrix", "--swizzle", "64B")
    assert answer["measured"]["wavefronts"] == answer["count"] == 8
    assert "NVIDIA H200" in answer["measured"]["provenance"]
    assert as_json(capsys, "lane * lane * 4")[1]["measured"] is None


def test_what_nobody_measured_says_so(capsys):
    assert "model, not measured" in said(capsys, "lane * lane * 4")[1].out


def test_addresses_may_come_from_the_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("0 4 8\n132, none\n"))
    code, answer = as_json(capsys, "--addresses", "-")
    assert (code, answer["addresses"][:5]) == (1, [0, 4, 8, 132, None])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give an access, an expression, or --addresses"),
        (["column", "--addresses", "0"], "give an access, an expression, or --addresses"),
        (["column", "--rows", "0"], "rows=0"),
        (["column", "--row-bytes", "2"], "a row does not hold one vector"),
        (["column", "--width", "3"], "width_bytes=3"),
        (["column", "--dtype", "int3"], "int3"),
        (["column", "--padding", "4", "--width", "8"], "rows begin 132 bytes apart"),
        (["ldmatrix", "--width", "4"], "a row of 16 bytes"),
        (["column", "--op", "ldmatrix_x4"], "use the access ldmatrix"),
        (["--addresses", "0,2"], "not a multiple of the width"),
        (["--addresses", ""], "not an address"),
        (["--addresses", "0,-4"], "addresses[1]='-4'"),
        (["--addresses", "0,4,four"], "addresses[2]='four'"),
        (["--addresses", ",".join(["0"] * 33)], "33"),
        (["--addresses", "x,x"], "no lane takes part"),
        (["--addresses", "0", "--rows", "8"], "--rows"),
        (["--addresses", "0", "--op", "ldmatrix_x1"], "8"),
        (["--addresses", "0", "--op", "ldmatrix_x1", "--width", "4"], "16 bytes"),
        (["--addresses", "9" * 19], "Fix:"),
        (["--addresses", "1" * 200_000], "too long"),
    ],
)
def test_what_cannot_be_answered_exits_2_and_says_why(capsys, words, message):
    code, printed = said(capsys, *words)
    assert code == 2
    assert message in printed.err
    assert printed.out == ""


def test_a_wrong_expression_is_shown_with_a_caret(capsys):
    code, printed = said(capsys, "4 * lan")
    assert code == 2
    assert printed.err.splitlines()[:2] == ["4 * lan", "    ^"]
    assert "column 5: no name 'lan'" in printed.err


def test_runs_put_neighbours_together():
    assert runs([0, 1, 2, 5, 7, 8]) == "0-2 5 7-8"
    assert runs([]) == ""


def test_an_ascii_terminal_gets_a_chart_too():
    environment = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    command = [sys.executable, "-m", "tmalab", "banks", "column"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert "   32  |" in done.stdout


@given(st.lists(st.integers(0, 3000).map(lambda word: 4 * word), min_size=1, max_size=32))
@settings(deadline=None, max_examples=30)
def test_any_addresses_have_the_model_s_degree(addresses):
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as printed:
        code = main(["banks", "--addresses", ",".join(map(str, addresses)), "--json"])
    assert json.loads(printed.getvalue())["degree"] == conflict_degree(addresses, 4)
    assert code in (0, 1)
