"""Typed expressions: C's and Python's integers where the two agree, refused with their place where not, never run."""

import subprocess
import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tmalab.errors import InputError
from tmalab.model.expression_tree import MOST_CHARACTERS, MOST_DEPTH, ExpressionError
from tmalab.model.lane_expression import NAMES, read_expression


def value(text, lane=3, **values):
    return read_expression(text)(**{**dict.fromkeys(NAMES, 0), "lane": lane, **values})


def answer(text, lane=3, **values):
    """The numbers, or the error."""
    try:
        return value(text, lane, **values)
    except ExpressionError as error:
        return error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4*((lane*32)^(lane&31))", 4 * ((3 * 32) ^ 3)),
        ("(lane*128)^((lane&7)<<4)", (3 * 128) ^ (3 << 4)),
        ("lane / 2", 1),
        ("lane // 2", 1),
        ("0x1Fu & 0b1010 | 0o1", (0x1F & 0b1010) | 1),
        ("1_024ULL", 1024),
        ("lane << 2 + 1", 24),
        ("1 | 2 ^ 3 & 2", 1 | 2 ^ 3 & 2),
        ("-lane + 4", 1),
        ("-2 ** 2", -4),
        ("2 ** 3 ** 2", 512),
        ("~lane & 0xFF", ~3 & 0xFF),
        ("16 - 4 - 2", 10),
        ("64 / 4 / 2", 8),
        ("7 - 8 % 3 * 2", 3),
        ("lane < 4 ? 16 : 32", 16),
        ("16 if lane < 3 else 32", 32),
        ("lane < 1 ? 1 : lane < 4 ? 2 : 3", 2),
        ("1 if lane < 1 else 2 if lane < 4 else 3", 2),
        ("(lane & 1) == 1", 1),
        ("lane > 1 && lane < 3", 0),
        ("lane > 5 or 7", 7),
        ("lane > 5 || 7", 1),
        ("lane and 7", 7),
        ("!lane + 1", 1),
        ("not lane == 4", 1),
        ("min(lane, 2, 9) + max(1, lane) + abs(-5)", 10),
        ("0 if lane else 1 / 0", 0),
        ("lane == 3 || 1 / 0", 1),
        ("0", 0),
    ],
)
def test_it_reads_what_c_and_python_mean_alike(text, expected):
    assert value(text) == (expected,)


def test_a_comma_makes_a_row_and_a_column():
    assert value("lane % 8, lane / 8 + col", lane=9, col=2) == (1, 3)


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("", 1, "a value is missing before the end"),
        ("4 *", 4, "a value is missing before the end"),
        ("4 * (lane", 10, "a parenthesis is not closed before the end"),
        ("4 lane", 3, "an operator is missing before 'lane'"),
        ("lane + tid", 8, "no name 'tid'"),
        ("lane.real", 5, "'.' means nothing here"),
        ("4 * 1.5", 5, "'1.5' is no whole number"),
        ("12lane", 1, "'12lane' is no whole number"),
        ("0x_", 1, "'0x_' is no whole number"),
        ("lane; 4", 5, "';' means nothing here"),
        ("'a'", 1, '"\'" means nothing here'),
        ("lane = 4", 6, "'=' means nothing here"),
        ("٣ + 1", 1, "'٣' means nothing here"),
        ("4, 5, 6", 5, "there are more than two values"),
        ("lane & 1 == 1", 10, "C and Python order & and == differently"),
        ("1 < lane | 2", 3, "C and Python order | and < differently"),
        ("0 < lane < 8", 10, "C and Python read a chain of comparisons differently"),
        ("lane * 010", 8, "010 is octal to C and an error to Python"),
        ("1 if lane", 10, "`if` has no `else` before the end"),
        ("lane ? 1", 9, "`?` has no `:` before the end"),
        ("min lane", 5, "min has no parenthesis before 'lane'"),
        ("min(lane)", 1, "min takes two values or more"),
        ("abs(1, 2)", 1, "abs takes one value"),
        ("lambda", 1, "no name 'lambda'"),
        ("__import__('os')", 12, '"\'" means nothing here'),
        ("__import__(1)", 1, "no name '__import__'"),
        ("else", 1, "a value is missing before 'else'"),
        ("1 + 9223372036854775808", 5, "the number is too large"),
    ],
)
def test_a_wrong_one_says_where(text, column, reason):
    with pytest.raises(ExpressionError) as caught:
        read_expression(text)
    assert (caught.value.column, caught.value.reason) == (column, reason)
    assert caught.value.field == "expression"
    assert caught.value.fix
    shown, caret = caught.value.pointed().split("\n")
    assert shown == text
    assert caret == " " * (column - 1) + "^"


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("8 / (lane - 3)", 3, "division by 0 at lane 3"),
        ("(lane - 4) / 8", 12, "C and Python round -1 / 8 differently at lane 3"),
        ("(lane - 4) % 8", 12, "C and Python round -1 / 8 differently at lane 3"),
        ("1 << -lane", 3, "-3 is no shift here at lane 3"),
        ("1 << 64", 3, "64 is no shift here at lane 3"),
        ("2 ** -1", 3, "-1 is no exponent here at lane 3"),
        ("9 ** 9 ** 9", 8, None),
        ("lane * 9223372036854775807", 6, "the number becomes too large at lane 3"),
    ],
)
def test_what_cannot_be_computed_says_where_and_for_which_lane(text, column, reason):
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert caught.value.column == column or reason is None
    assert caught.value.reason == reason or reason is None


def test_negative_numbers_that_divide_without_rest_are_the_same_to_both():
    assert value("(lane - 11) / 8 + (lane - 11) % 8") == (-1,)


@pytest.mark.parametrize(
    "text",
    ["(" * 150 + "1" + ")" * 150, "-" * 299 + "1", "1" + "+1" * 149, "2 ** " * 59 + "2", "9" * 300, "1+" * 10**6],
)
def test_too_deep_too_long_and_too_large_end_at_once(text):
    begun = time.process_time()
    said = answer(text)
    assert isinstance(said, tuple) or 1 <= said.column <= MOST_CHARACTERS + 1
    assert time.process_time() - begun < 0.5


def test_the_limits_are_what_they_say():
    assert value("(" * (MOST_DEPTH - 1) + "1" + ")" * (MOST_DEPTH - 1)) == (1,)
    with pytest.raises(ExpressionError, match="nested too deeply"):
        read_expression("(" * MOST_DEPTH + "1" + ")" * MOST_DEPTH)
    assert value("1" + " " * (MOST_CHARACTERS - 1)) == (1,)
    with pytest.raises(ExpressionError, match="301 characters"):
        read_expression(" " * (MOST_CHARACTERS + 1))


@pytest.mark.parametrize("given_text", [None, 4, b"lane", ["lane"]])
def test_what_is_no_text_is_refused(given_text):
    with pytest.raises(InputError, match="not a text"):
        read_expression(given_text)


# --- hypothesis -------------------------------------------------------------------------------------------------------

WORDS = [
    "lane", "row", "col", "4", "0x10", "31", "1.5", "010", "(", ")", "+", "-", "*", "/", "//", "%", "**", "^", "&", "|",
    "<<", ">>", "~", "!", "not", "and", "or", "&&", "||", "?", ":", "if", "else", "min", "max", "abs", ",",
    "<", "==",
]  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)), st.integers(0, 31))
@example("0x_", 0)
@example("1 if 1 else", 0)
@settings(max_examples=400, deadline=None)
def test_any_text_is_a_number_or_an_error_with_its_place(text, lane):
    said = answer(text, lane)
    if isinstance(said, ExpressionError):
        assert 1 <= said.column <= len(text) + 1
        assert said.fix
        assert "\n" not in said.reason
    else:
        assert 1 <= len(said) <= 2
        assert all(type(number) is int and number.bit_length() <= 63 for number in said)


leaves = st.sampled_from(["lane", "row", "3", "7", "16", "0x1f"])


def bigger(parts):
    pair = st.tuples(
        parts, st.sampled_from(["+", "*", "&", "|", "^", "<<", ">>", "//", "%", "-", "**", "<", "=="]), parts
    )
    return st.one_of(
        pair.map(lambda three: f"({' '.join(three)})"),
        st.tuples(parts, parts, parts).map(lambda three: "({} if {} else {})".format(*three)),
        parts.map(lambda one: f"~{one}"),
        st.tuples(parts, parts).map(lambda two: "min({}, {})".format(*two)),
    )


@given(st.recursive(leaves, bigger, max_leaves=8), st.integers(0, 31))
@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # of a comparison: Python's from 3.12 on
@settings(max_examples=300, deadline=None)
def test_it_agrees_with_python_wherever_it_answers(text, lane):
    found = answer(text, lane, row=lane // 4)
    if isinstance(found, ExpressionError):
        return
    assert found == (int(eval(text, {"lane": lane, "row": lane // 4, "min": min})),)


@given(st.recursive(leaves, bigger, max_leaves=6), st.recursive(leaves, bigger, max_leaves=6))
@settings(max_examples=100, deadline=None)
def test_both_spellings_of_a_choice_are_one(left, right):
    python, c = (answer(text, 5) for text in (f"{left} if lane else {right}", f"lane ? {left} : {right}"))
    assert getattr(python, "reason", python) == getattr(c, "reason", c)


def test_reading_an_expression_loads_no_numpy():
    code = "import sys; import tmalab.model.lane_expression; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
