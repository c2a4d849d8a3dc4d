"""What front ends check: each rule is the driver's, each sentence stands in the package, each contradiction ran."""

from __future__ import annotations

import pytest

from tmalab import observe
from tmalab.experiment.refusal_cases import SITUATIONS
from tmalab.experiment.refusals import Answer
from tmalab.frontends.checks import CHECKS, SOURCES, source_of
from tmalab.frontends.front_end import FRONT_ENDS
from tmalab.model.rules import RULES, WARNINGS

RULE_IDS, WARNING_IDS = ({rule.id for rule in rules} for rules in (RULES, WARNINGS))


def test_each_check_is_a_rule_of_the_driver_or_says_that_it_is_none():
    for check in CHECKS:
        assert check.rule in RULE_IDS | WARNING_IDS
        assert check.only_here or check.rule in RULE_IDS
        assert check.front_end in FRONT_ENDS
        assert check.situation is None or check.only_here
    assert len({(check.rule, check.front_end, check.only_here) for check in CHECKS}) == len(CHECKS)


@pytest.mark.parametrize("front_end", SOURCES)
def test_the_words_stand_in_the_installed_package(front_end):
    text = source_of(front_end)
    if not text:
        pytest.skip(f"needs {FRONT_ENDS[front_end].title}: pip install 'tmalab[{FRONT_ENDS[front_end].extra}]'")
    partly = front_end == "pallas" and "Window shape" not in text  # the plugin for CUDA is not here
    for check in CHECKS:
        if check.front_end == front_end and not (partly and check.words in PLUGIN):
            assert check.words in text, check


PLUGIN = {"Rank must be in [1, 5]", "TMA size must be less than 2**32", "less than 2**40",
          "Window shape must be in [0, 256]", "bytewidth divisible by 16"}  # fmt: skip


@pytest.mark.parametrize("check", [check for check in CHECKS if check.situation], ids=lambda check: check.words)
def test_where_it_parts_from_the_driver_the_driver_s_map_was_loaded(check):
    situation, who = SITUATIONS[check.situation], "cccl-3.5" if check.front_end == "cccl" else check.front_end
    seen = observe(f"refusals/{check.situation}/{who}", live=False)
    assert check.words.split(" min(")[0] in Answer(situation, who, seen).refused
    driver = observe(f"refusals/{check.situation}/driver", live=False)
    assert Answer(situation, "driver", driver).bytes_differing == 0
