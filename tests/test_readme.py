"""The README is true: its Python runs, its commands answer as shown, its `make` targets, files and picture exist."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "THIRD_PARTY_NOTICES.md"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def console_examples() -> list[tuple[str, str]]:
    """(command, what the README shows after it) of every `$ tmalab …` line."""
    text = "".join(blocks("console"))
    return [
        (command, shown) for command, shown in re.findall(r"^\$ (tmalab .*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    ]


@pytest.mark.parametrize("block", blocks("python"))
def test_the_python_in_it_runs(block):
    example = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize(("command", "shown"), console_examples())
def test_a_command_answers_as_shown(command, shown):
    run = subprocess.run(
        [sys.executable, "-m", "tmalab", *shlex.split(command)[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    # The README leaves lines out where it says …, and a line's own length is the terminal's business.
    position = 0
    answer = " ".join(run.stdout.split())
    for piece in shown.split("…"):
        found = answer.find(" ".join(piece.split()), position)
        assert found >= 0, f"{command} does not print {piece!r}, but:\n{run.stdout}"
        position = found


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\bmake ([a-z-]+)", "".join(blocks("(?:sh|console)"))))))
def test_a_make_target_exists(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_it_names_the_two_commands():
    assert "make book" in README
    assert "make test" in README


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_inside_the_repository_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]
    for link in links:
        assert (ROOT / link.split("#")[0]).exists(), f"{document} links to {link}"


def test_it_shows_the_figure():
    picture = ROOT / "docs" / "images" / "figure-1.png"
    assert str(picture.relative_to(ROOT)) in README
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_changelog_knows_this_version():
    import tmalab

    assert f"## {tmalab.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
