"""`tmalab` itself: finds the command, imports only that one, and turns what goes wrong into one message and a code."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import tmalab
from tmalab import cli
from tmalab.errors import InputError


@pytest.fixture
def command(monkeypatch):
    """Puts a function in the place of `tmalab try`, and returns a call of it."""

    def run_with(body):
        fake = SimpleNamespace(add_parser=lambda subparsers: subparsers.add_parser("try"), run=lambda arguments: body())
        monkeypatch.setattr(cli, "COMMANDS", {"try": "a command of this test"})
        monkeypatch.setitem(sys.modules, "tmalab.cli.try", fake)
        return cli.main(["try"])

    return run_with


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"tmalab {tmalab.__version__}\n"


def test_alone_it_lists_every_command(capsys):
    assert cli.main([]) == 0
    shown = capsys.readouterr().out
    for name, summary in cli.COMMANDS.items():
        assert f"{name}  " in shown
        assert summary.split()[0] in shown


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["chekc"])
    assert "invalid choice: 'chekc'" in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main([name, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: tmalab {name}")


def test_the_exit_code_is_the_commands(command):
    assert command(lambda: 1) == 1


def test_an_error_of_ours_is_one_message(command, capsys):
    def fail():
        raise InputError("unknown swizzle", field="swizzle", value="96B", fix="use 128B")

    assert command(fail) == 2
    shown = capsys.readouterr()
    assert shown.err == "tmalab try: swizzle='96B': unknown swizzle. Fix: use 128B.\n"
    assert shown.out == ""


def test_any_other_error_is_a_bug_and_shows(command):
    with pytest.raises(ZeroDivisionError):
        command(lambda: 1 // 0)


def test_interrupted(command, capsys):
    def interrupt():
        raise KeyboardInterrupt

    assert command(interrupt) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [[], ["doctor"]], ids=["help", "doctor"])
def test_a_closed_pipe_is_no_traceback(words, unbuffered):
    with subprocess.Popen(
        [sys.executable, "-m", "tmalab", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    ) as process:  # fmt: skip
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode in (0, 141)  # newer argparse swallows it


LEGAL = "--dtype float16 --global-dim 64,64 --global-strides 128 --box-dim 64,8"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (f"check {LEGAL} >/dev/full", 2, "the answer cannot be used: No space left"),
        (f"check {LEGAL} >&-", 0, ""),
        ("check - <&-", 2, "standard input is closed"),
        ("check .", 2, "a folder"),
        (f"check {LEGAL} --box-dim 32,8", 2, "--box-dim is said twice"),
    ],
)
def test_odd_streams_and_words_end_in_a_message_and_its_code(words, code, said):
    ran = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tmalab {words}"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == code
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_terminal_of_ascii_gets_the_answer_too():
    ran = subprocess.run(
        [sys.executable, "-m", "tmalab", "predict", *LEGAL.split()],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "bytes" in ran.stdout
