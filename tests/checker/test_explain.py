"""Every rule has its page: a text, a source, and an example that the checker itself answers with that rule."""

import ast
from pathlib import Path

import pytest

from tmalab.checker import check_text
from tmalab.checker.explain import explain, rule_ids, rule_page
from tmalab.checker.rule_examples import EXAMPLES, example, example_text
from tmalab.errors import InputError
from tmalab.model.swizzle import PATTERNS, swizzled

ROOT = Path(__file__).parents[2]


def test_every_rule_has_an_example_and_every_example_a_rule():
    assert sorted(EXAMPLES) == sorted(rule_ids())
    assert len(rule_ids()) == len(set(rule_ids()))


@pytest.mark.parametrize("rule_id", rule_ids())
def test_an_example_is_answered_with_its_rule(rule_id):
    answer = check_text(example_text(rule_id))
    assert rule_id in answer.rules
    shown = example(rule_id)
    if shown.fix is not None:
        found = (*answer.violations, *answer.faults, *answer.warnings)
        violation = next(violation for violation in found if violation.rule == rule_id)
        assert (shown.field, shown.value, shown.limit) == (violation.field, violation.value, violation.limit)
        assert (shown.message, shown.fix) == (violation.message, violation.fix)


@pytest.mark.parametrize("rule_id", rule_ids())
def test_an_example_breaks_no_other_rule(rule_id):
    answer = check_text(example_text(rule_id))
    assert {violation.rule for violation in (*answer.violations, *answer.faults)} <= {
        rule_id,
        "interleave_needs_rank_3",
    }


@pytest.mark.parametrize("rule_id", rule_ids())
def test_the_text_says_all_that_the_page_says(rule_id):
    page, text = rule_page(rule_id), " ".join(explain(rule_id).split())
    assert page.example is not None
    assert text.startswith(f"{rule_id}: {page.title} ")
    for said in (page.text, *(value for _, value in page.facts), page.example.text, page.example.message):
        assert " ".join(said.split()) in text
    assert page.example.fix is None or page.example.fix in text
    assert dict(page.facts)["Source"]


def test_every_rule_that_the_checker_names_can_be_explained():
    named = set()
    for path in (ROOT / "tmalab" / "checker").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Note", "Violation", "found.note"):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    named.add(first.value)
    assert len(named) > 8
    assert named <= set(rule_ids())


def test_an_unknown_rule_is_refused_with_those_that_look_like_it():
    with pytest.raises(InputError, match="box_dim_range_1_256"):
        rule_page("box_dim_range")
    with pytest.raises(InputError, match="--explain all"):
        explain("zzz")


@pytest.mark.parametrize(("mode", "lines"), [("32B", 2), ("64B", 4), ("128B", 8)])
def test_the_swizzles_are_explained_as_they_are(mode, lines):
    assert f"c XOR (line mod {lines})" in rule_page(f"swizzle_{mode}").text
    places = PATTERNS[mode].span_bytes // 16
    for address in range(0, 4096, 16):
        line, place = address // 128, address // 16 % places
        assert swizzled(address, mode) == address - 16 * place + 16 * (place ^ line % lines)
