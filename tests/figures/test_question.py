"""A question: an integer for an answer, and its answer behind a fold where no script runs."""

import pytest

from tmalab.errors import InputError
from tmalab.figures import Question


def ask(**changes):
    return Question("How many bytes in a line?", **{"answer": 128, "hint": "32 banks.", "why": "32 x 4.", **changes})


def test_its_html_holds_the_question_and_folds_the_answer():
    html = ask(why="32 x 4 < 129").html()
    assert '<p class="tma-ask">How many bytes in a line?</p>' in html
    assert "<summary>Answer</summary>128. 32 x 4 &lt; 129</details>" in html
    assert repr(ask()) == "Question('How many bytes in a line?')"


@pytest.mark.parametrize("answer", [128.0, "128", None, True])
def test_an_answer_is_an_integer(answer):
    with pytest.raises(InputError, match="answer="):
        ask(answer=answer)
