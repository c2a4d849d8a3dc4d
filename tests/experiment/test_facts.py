"""The facts: whole, foretold by the model, shown by the recordings, and refuted by a byte or a verdict that differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tmalab import TensorMap
from tmalab.errors import InputError
from tmalab.experiment import catalogue
from tmalab.experiment.bank_patterns import patterns_of
from tmalab.experiment.cute_cases import VERSIONS
from tmalab.experiment.facts import FACTS, fact, fact_cases
from tmalab.experiment.facts.fact import hex_words
from tmalab.experiment.facts.words import case_text, map_text
from tmalab.experiment.observation import Observation, Provenance
from tmalab.model import launch_violations
from tmalab.model.launch_rules import BULK_COPY_RULES, LAUNCH_RULES, LAUNCH_WARNINGS
from tmalab.model.rules import ALLOCATION_WARNINGS, MODE_RULES, RULES, WARNINGS
from tmalab.recordings.comparing import expected_bytes
from tmalab.recordings.measured import Measured, measured
from tmalab.recordings.observe import observe

TRIALS = [trial for found in FACTS for trial in found.trials]
# The model knows the engine and the driver, and no front end.
FORETOLD = [trial for trial in TRIALS if trial.reads is None]
ALL_RULES = (*RULES, *MODE_RULES, *WARNINGS, *ALLOCATION_WARNINGS, *LAUNCH_RULES, *LAUNCH_WARNINGS, *BULK_COPY_RULES)
# Measured, and not by a case: no probe launches a copy that does not fit into the shared memory that it dumps.
NOT_A_CASE = {"box_past_shared_memory"}

each_fact = pytest.mark.parametrize("found", FACTS, ids=lambda found: found.id)
each_trial = pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.case.name)
each_foretold = pytest.mark.parametrize("trial", FORETOLD, ids=lambda trial: trial.case.name)


def foretold(trial) -> Observation:
    """What the model says that the case will show; of a front end what was recorded."""
    case, params = trial.case, trial.case.params
    if trial.reads is not None:
        return observe(case, live=False)
    unknown = Provenance("Model", "9.0", "0", "0", "0", "none", "", "2026-01-01", 1)
    if case.probe == "banks":
        (pattern,) = patterns_of(params)
        access = pattern.access()
        shown = {
            "cycles": access.cycles,
            "ncu_wavefronts": access.count,
            "latency_cycles": 28.38 + access.added_latency_cycles,
        }
        arrays = {name: np.array([value]) for name, value in shown.items()}
        return Observation(case, arrays, {"error": None}, unknown, "recorded")
    if case.probe == "barrier_ops":
        results = stepped(params["launches"][-1])
        if results is None:
            return Observation(case, {}, {"error": "LAUNCH_FAILED"}, unknown, "recorded")
        return Observation(case, {"results": np.array([[results]], np.uint64)}, {"error": None}, unknown, "recorded")
    tm = TensorMap.from_dict(params["tensor_map"])
    arrays, values = {}, {"error": None}
    if case.probe == "encode":
        values["accepted"] = tm.violations() == [] and params.get("context", True)
        if not params.get("context", True):
            values["answer"] = trial.answer  # of contexts the model knows nothing
    else:
        launch = {name: params[name] for name in ("direction", "op", "smem_base", "offsets", "smem_bytes")}
        launch |= {name: params[name] for name in ("descriptor_space", "descriptor_align") if name in params}
        errors = [found.cuda_error for found in launch_violations(tm, params["coords"], **launch) if found.cuda_error]
        come = tm.transaction_bytes()
        values |= {"completed": params.get("expect_tx_bytes", come) == come, "delivered_bytes": come}
        if errors:
            values["error"] = errors[0]
        else:
            arrays["smem" if params["direction"] == "load" else "memory"] = expected_bytes(case)
    return Observation(case, arrays, values, unknown, "recorded")


def stepped(steps):
    """What each step returns by the counts alone; None where an arrive finds nothing pending."""
    pending = tx_count = expected = phase = 0
    memory, results = 0, []
    for op, operand in ([*step, 0][:2] for step in steps):
        fields = ((phase, 63, 1), (-pending, 43, 20), (-tx_count, 21, 21), (-expected, 1, 20))
        word = sum((value % (1 << width)) << at for value, at, width in fields)
        result = 0
        if op == "ST":
            memory = int(operand, 16)  # what counts is not the word: an arrive finds nothing pending
        elif op == "INIT":
            phase, pending, tx_count, expected = 0, operand, 0, operand
        elif op == "INVAL" or (op == "INIT_OTHERS" and operand >= 32):
            memory = word
        elif op in ("EXPECT_TX", "COMPLETE_TX"):
            tx_count += operand if op == "EXPECT_TX" else -operand
        elif op.startswith("ARRIVE"):
            tx_count += operand if op == "ARRIVE_EXPECT_TX" else 0
            arrived = operand if op == "ARRIVE_COUNT" else 1
            if pending < arrived:
                return None
            result, before, pending = word >> 32 << 32, pending, pending - arrived
            expected -= op == "ARRIVE_DROP"
        elif op == "PENDING_COUNT":
            result = before
        elif op == "TEST_PARITY":
            result = (operand & 1) != phase
        else:
            result = memory
        if op.startswith(("ARRIVE", "COMPLETE")) and pending == 0 and tx_count == 0:
            phase, pending = phase ^ 1, expected
        results.append(int(result))
    return results


def otherwise(trial, seen: Observation) -> list[Observation]:
    """Observations that are not what the trial's answer says, each by the least that can differ."""
    values = dict(seen.values)
    if trial.reads is not None:
        return list(otherwise_by_a_front_end(trial, values, seen))
    if values.get("error"):
        shown = {"smem": np.zeros(64, np.uint8), "memory": np.zeros(64, np.uint8)}
        shown["results"] = np.zeros((1, 1, 8), np.uint64)
        unlike = [{**values, "error": f"NOT_{values['error']}"}, {**values, "error": None}]
        return [replace(seen, arrays=shown, values=changed) for changed in unlike]
    if trial.case.probe == "banks":
        names = ("latency_cycles",) if trial.shows == "latency" else ("cycles", "ncu_wavefronts")
        return [replace(seen, arrays={**seen.arrays, name: seen[name] + 1}) for name in names]
    if trial.case.probe == "barrier_ops":
        last = seen["results"].copy()
        # another truth, or another bit in what a word and a state have in common
        last[0, 0, -1] = 0 if last[0, 0, -1] == 1 else last[0, 0, -1] ^ np.uint64(1 << 40)
        return [replace(seen, arrays={"results": last}), replace(seen, values={**values, "error": "LAUNCH_FAILED"})]
    if trial.case.probe == "encode":
        return [replace(seen, values={**values, "accepted": not values["accepted"], "answer": None})]
    if trial.shows == "count":
        changes = [{"delivered_bytes": values["delivered_bytes"] - 1}, {"delivered_bytes": None}]
        changes += [] if isinstance(trial.answer, tuple) else [{"completed": not values["completed"]}]
        return [replace(seen, values={**values, **change}) for change in changes]
    ((name, content),) = seen.arrays.items()
    flipped = []
    for position in range(content.size):
        other = content.copy()
        other[position] ^= 1
        flipped.append(replace(seen, arrays={name: other}))
    return flipped


def otherwise_by_a_front_end(trial, values, seen: Observation):
    """The same of what a front end's program saw, or of what the driver did where a front end is held against it."""
    if seen.case.probe == "tirx":  # another refuses, an element more is wrong, another fault
        refused = {"raised": {"type": "RuntimeError", "message": "TMA interleave must be 0, 1, or 2"}}
        yield replace(seen, values={**values, "error": None, **refused})
        if "differ" in values:
            yield replace(seen, values={**values, "differ": values["differ"] + 1})
        if values["error"]:
            yield replace(seen, values={**values, "error": "LAUNCH_FAILED"})
    elif "elects" in values:
        yield from (
            replace(seen, values={**values, "elects": {**values["elects"], what: not does}})
            for what, does in values["elects"].items()
        )
    elif "counters" in values:  # a product: counted twice, wrong, as fast as neither, at neither clock
        counters = {**values["counters"], "shared_wavefronts": 2e9} if values["counters"] else None
        if "wavefronts" in trial.answer:
            yield replace(seen, values={**values, "counters": counters})
            yield replace(seen, values={**values, "counters": None, "relative_error": 0.5})
        yield replace(seen, values={**values, "counters": counters, "ratio": 0.75, "cycles_per_ns": 1.65})
    elif "phase_completed" in values:
        yield replace(seen, values={**values, "phase_completed": not values["phase_completed"]})
    elif seen.case.probe == "tma_copy":  # one word wrong; all versions as fast as the driver, and none
        yield replace(seen, values={**values, "differ": [1, *values["differ"][1:]]})
        by = 0.5 if trial.answer.startswith("98") else 2
        yield replace(seen, arrays={"ms": np.concatenate([seen["ms"][:-1], by * seen["ms"][-1:]])})
    elif "total_cycles" in seen.arrays:  # one stage as fast as any, or only three
        for stages, by in ((0, 0.1), (1, 2)):
            cycles = seen["total_cycles"].copy()
            cycles[stages] = by * cycles[stages]
            yield replace(seen, arrays={**seen.arrays, "total_cycles": cycles})
    elif "paced" in seen.arrays:
        paced = seen["paced"].copy()
        paced[:, 0, 1] = 2 * paced[:, -1, 1]
        yield replace(seen, arrays={**seen.arrays, "paced": paced})
    elif "ms" in seen.arrays:  # two buffers as fast as three, and far slower
        for by in (1, 2):
            ms = seen["ms"].copy()
            for via in ("registers", "tma"):
                ms[VERSIONS.index((via, 2, 132))] = by * ms[VERSIONS.index((via, 3, 132))]
            yield replace(seen, arrays={"ms": ms})
    elif seen.case.name == "frontends/cute/default":
        yield replace(seen, values={**values, "encode_calls": [{"answer": 0}]})
        yield replace(seen, arrays={**seen.arrays, "driver_descriptor": seen["descriptor"]})
    elif "smem" in seen.arrays:
        smem = seen["smem"].copy()
        smem[0] ^= 1
        if " 0 bytes" in trial.answer:
            yield replace(seen, arrays={**seen.arrays, "smem": smem})
        yield replace(seen, values={**values, "raised": {"type": "ValueError", "message": "no"}, "accepted": False})
    else:
        yield replace(seen, values={**values, "raised": None, "accepted": True})


def test_ids_are_unique_and_every_case_is_in_the_catalogue():
    assert len({found.id for found in FACTS}) == len(FACTS)
    known = catalogue.cases()
    assert [trial.case.name for trial in TRIALS if known.get(trial.case.name) != trial.case] == []
    assert list(fact_cases()) == catalogue.group("facts")


@each_fact
def test_a_fact_is_told_in_a_few_words(found):
    assert found.statement.endswith(".")
    assert len(found.statement) < 200
    assert found.manual.endswith((".", ".)"))
    assert found.trials
    assert found.title[0].isupper()
    questions = [trial.question for trial in found.trials]
    assert len(set(questions)) == len(questions), "two rows of its table would be asked the same"
    assert all(len(trial.expected) <= 160 for trial in found.trials), "the smallest experiment has a short answer"


def test_every_rule_that_was_measured_rests_on_a_fact():
    rested_on = {rule for found in FACTS for rule in found.rules}
    assert {rule.id for rule in ALL_RULES if rule.measured} - rested_on == NOT_A_CASE
    assert rested_on <= {rule.id for rule in ALL_RULES}
    alone = {rule.id for rule in ALL_RULES if rule.measured and not rule.written}
    assert alone <= rested_on


@each_foretold
def test_the_model_foretells_the_answer(trial):
    seen = foretold(trial)
    assert trial.agrees(seen), trial.answer_of(seen)


@each_trial
def test_the_recording_shows_the_answer(trial):
    seen = observe(trial.case, live=False)
    assert trial.agrees(seen), trial.answer_of(seen)
    assert not seen.undefined


@each_fact
def test_it_holds_on_its_recordings(found):
    shown = measured(found.id, live=False)
    assert shown.holds
    assert len(shown.rows) == len(found.trials)


@each_fact
def test_any_other_answer_refutes_it(found):
    seen = {trial.case.name: foretold(trial) for trial in found.trials}
    assert found.holds(seen)
    for trial in found.trials:
        unlike = otherwise(trial, seen[trial.case.name])
        assert unlike
        for one in unlike:
            assert not found.holds({**seen, trial.case.name: one}), trial.answer_of(one)


@pytest.mark.parametrize(
    "trial",
    [trial for trial in FORETOLD if trial.case.probe not in ("banks", "barrier_ops")],
    ids=lambda trial: trial.case.name,
)
def test_a_case_in_words_is_the_python_that_builds_its_map(trial):
    fields = trial.case.params["tensor_map"]
    built = eval(map_text(fields), {"TensorMap": TensorMap})
    assert built.to_dict() == {**fields, "address": built.address}
    assert trial.case.params.get("direction", "encode") in case_text(trial.case)


def test_steps_in_words_are_the_steps():
    assert case_text(fact("one-bit-of-parity").trials[0].case).startswith("INIT 1, TEST_PARITY 0, TEST_PARITY 1")


def test_a_program_in_words_is_its_file_and_its_parameters():
    words = case_text(fact("pallas-wants-the-whole-span").trials[1].case)
    assert words.startswith("pallas_tile.py: run(way='default', shape=[192, 320], box=[32, 32]")


def test_an_access_in_words_says_what_each_lane_does():
    words = case_text(fact("loads-that-merge").trials[5].case)
    assert words.startswith("load of 16 bytes at 0 - 16 - 32 - ")
    assert len(words.split()) == 5 + 32


def test_a_fact_is_shown_as_a_table_with_its_provenance_apart():
    found = fact("two-faults")
    shown = Measured(found, {trial.case.name: foretold(trial) for trial in found.trials})
    assert repr(shown) == "coordinate 1, to byte 64  ILLEGAL_INSTRUCTION"
    assert "<code>ILLEGAL_INSTRUCTION</code>" in shown._repr_html_()
    assert '<p class="tma-provenance" data-volatile>recorded: Model' in shown._repr_html_()


def test_a_masked_word_is_no_answer():
    content = np.arange(8, dtype=np.uint8)
    mask = np.zeros(8, bool)
    mask[5] = True
    assert hex_words(content, 4, mask) == "03020100 ????????"


def test_an_unknown_fact_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="nan-fill"):
        fact("nan-fil")
    with pytest.raises(InputError, match="box-of-228-kib"):
        fact("zebra")


def test_without_a_profiler_the_cycles_alone_are_held():
    found = fact("a-register-a-cycle")
    seen = {trial.case.name: foretold(trial) for trial in found.trials}
    first = found.trials[0]
    counted = seen[first.case.name]
    arrays = {name: array for name, array in counted.arrays.items() if name != "ncu_wavefronts"}
    uncounted = Observation(counted.case, arrays, counted.values, counted.provenance, "live")
    assert found.holds({**seen, first.case.name: uncounted})
    slower = Observation(counted.case, {**arrays, "cycles": arrays["cycles"] + 1}, counted.values, None, "live")
    assert not found.holds({**seen, first.case.name: slower})
