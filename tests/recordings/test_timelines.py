"""What was recorded of barriers, tiles that land and buffers reused says what the book says of it."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from tmalab.errors import InputError
from tmalab.experiment import catalogue
from tmalab.experiment.barrier_word import decode_state, decode_word
from tmalab.experiment.barrier_word_cases import MARK
from tmalab.experiment.timeline_builders import TILE_BYTES, timeline_of
from tmalab.hardware.compile import KERNELS
from tmalab.recordings.store import Store

STORE = Store()
TWO_LOADS = [case.name for case in catalogue.group("timeline") if case.name.startswith("timeline/two-loads/")]
LANDED = [case.name for case in catalogue.group("landing") if not case.params.get("counts")]
PTX_LINES = "".join(
    (KERNELS / name).read_text(encoding="utf-8").replace("\n// ", "") for name in ("ptx.cuh", "ptx_tensor.cuh")
)


def seen(name):
    found = STORE.get(catalogue.case(name))
    assert found is not None, name
    return found


GROUPS = ("timeline", "landing", "parity", "counts", "reuse", "ordering")


@pytest.mark.parametrize("group", GROUPS)
def test_no_name_means_an_array_and_a_value(group):
    for case in catalogue.group(group):
        both = set(seen(case.name).arrays) & set(seen(case.name).values)
        assert both <= {"answers"}, case.name  # of the parities, whose value names the array's columns


class TestTimelines:
    @pytest.mark.parametrize("name", [*TWO_LOADS, *LANDED])
    def test_a_recording_becomes_a_timeline_and_a_trace(self, name):
        line = timeline_of(seen(name))
        assert all(event.begin_cycles <= event.end_cycles for event in line.events)
        assert all(one.begin_cycles <= two.begin_cycles for one, two in pairwise(line.events))
        assert {event.lane for event in line.events} <= set(line.lanes)
        assert line.provenance.startswith("NVIDIA H200")
        trace = json.loads(json.dumps(line.to_chrome_trace()))
        assert len(trace["traceEvents"]) > len(line.events)
        spans = sorted((e["tid"], e["ts"], e["dur"]) for e in trace["traceEvents"] if e["ph"] == "X")
        for (thread, begin, lasts), (other, then, _) in pairwise(spans):
            assert thread != other or begin + lasts <= then + 1e-9

    @pytest.mark.parametrize("name", [*TWO_LOADS, *LANDED])
    def test_every_instruction_shown_is_a_line_of_the_headers(self, name):
        shown = {event.ptx for event in timeline_of(seen(name)).events if event.ptx}
        assert shown
        assert [line for line in shown if line not in PTX_LINES] == []

    @pytest.mark.parametrize("name", [name for name in TWO_LOADS if name.endswith("one-barrier")])
    def test_the_replayed_counts_go_down_to_the_flip(self, name):
        counted = [event for event in timeline_of(seen(name)).events if event.after]
        assert [event.after.tx_count for event in counted] == [2 * TILE_BYTES, TILE_BYTES, 0]
        assert [event.after.phase for event in counted] == [0, 0, 1]
        assert counted[-1].after.pending_count == 1

    @pytest.mark.parametrize("name", [name for name in TWO_LOADS if name.endswith("counted")])
    def test_the_counts_that_were_read_are_the_same_ones(self, name):
        read = [event.after for event in timeline_of(seen(name)).events if event.after]
        assert read[0].tx_count == 2 * TILE_BYTES
        assert read[-1].tx_count == 0
        assert {counts.pending_count for counts in read} == {0}

    def test_any_kept_run_can_be_drawn_and_no_other(self):
        one = seen("timeline/two-loads/cold/one-barrier")
        assert timeline_of(one, 3).events != timeline_of(one, 4).events
        for name, run in (
            (one.case.name, 250),
            ("timeline/two-loads/cold/counted", 300),
            ("landing/64x64-none/warm", 1000),
        ):
            with pytest.raises(InputError, match="run="):
                timeline_of(seen(name), run)

    @pytest.mark.parametrize(
        "name",
        [
            "parity/free/right",
            "timeline/order/before",
            "timeline/order/halves-arrive-twice",
            "timeline/clocks",
            "landing/64x64-128B/warm-counts",
        ],
    )
    def test_what_has_no_moments_has_no_timeline(self, name):
        with pytest.raises(InputError, match="no timeline"):
            timeline_of(seen(name))


class TestOrders:
    SAFE = ("before", "between", "between-late", "after", "after-late", "halves-two-arrivals", "halves-arrive-last",
            "halves-arrive-last-late")  # fmt: skip

    @pytest.mark.parametrize("order", SAFE)
    def test_safe_orders_never_showed_a_hole(self, order):
        found = seen(f"timeline/order/{order}")
        assert not found["missing_words"].any()
        assert found.provenance.repeats == len(found["missing_words"]) >= 200

    def test_half_a_tile_is_let_through_where_the_second_half_is_announced_late(self):
        assert (seen("timeline/order/halves-arrive-first-late")["missing_words"] == TILE_BYTES // 4).all()
        assert seen("timeline/order/arrive-then-expect")["missing_words"].all()
        assert seen("timeline/order/halves-arrive-twice")["error"] == "LAUNCH_FAILED"


class TestCounts:
    @pytest.mark.parametrize("name", ["counts/reads", "counts/reads-from-the-other-block"])
    def test_no_reading_sees_a_barrier_at_work_and_every_one_after_inval(self, name):
        found = seen(name)
        for steps, results in zip(found.case.params["launches"], found["results"][:, 0].tolist(), strict=True):
            read = [
                word for (op, *_), word in zip(steps, results, strict=True) if op.startswith(("LD", "ATOM", "BULK"))
            ]
            assert read[:-1] == [MARK] * 3
            assert decode_word(read[-1]).tx_count == 4096

    @pytest.mark.parametrize(("name", "least"), [("counts/others", 32), ("counts/others-128-bytes-apart", 16)])
    def test_other_barriers_push_the_word_out(self, name, least):
        found = seen(name)
        current = {
            steps[4][1]: int(results[5]) != MARK
            for steps, results in zip(found.case.params["launches"], found["results"][:, 0], strict=True)
        }
        assert all(current[others] for others in current if others >= least)
        assert not current[8]

    def test_the_next_launch_finds_the_barrier_and_goes_on_counting(self):
        results = seen("counts/next-launch")["results"]
        (word,) = np.unique(results[1, :, 0])
        assert decode_word(int(word)).pending_count == 4
        assert (results[2, :, 1] == 4).all()

    def test_every_repetition_returned_the_same(self):
        assert all(seen(case.name).values.get("alike", 20) == 20 for case in catalogue.group("counts"))

    def test_a_landing_tile_is_counted_down_to_nothing(self):
        found = seen("landing/256x128-none/warm-counts")
        for run in found["states"]:
            bytes_left = [decode_state(int(state)).most_tx_count for state in run if state]
            armed = bytes_left.index(65536)
            assert bytes_left[armed:] == sorted(bytes_left[armed:], reverse=True)
            assert bytes_left[-1] == 0


class TestReuse:
    found = seen("reuse/stores-4")
    waits = tuple(tuple(wait) for wait in found["waits"])

    @pytest.mark.parametrize("kind", ["read", "group"])
    @pytest.mark.parametrize("n", range(4))
    @pytest.mark.parametrize("mask", range(16))
    def test_a_wait_protects_every_group_but_the_newest_n(self, kind, n, mask):
        lines = self.found["new_lines"][mask, self.waits.index((kind, n))]
        groups, group = [], 0
        for store in range(4):
            groups.append(group)
            group += mask >> store & 1
        for store, its_group in enumerate(groups):
            if its_group < group - n:
                assert not lines[:, store].any(), store

    def test_what_no_wait_protects_was_overwritten(self):
        lines = self.found["new_lines"]
        assert lines[0b1111, self.waits.index(("none", 0))][:, 3].all()
        assert lines[0b0001, self.waits.index(("group", 0))][:, 3].all()
        assert (self.found["line_runs"].max(axis=-1) <= self.found["rounds"]).all()


class TestOrdering:
    def test_the_whole_order_never_failed(self):
        for name in ("store/whole", "fetch/whole", "store-late/whole"):
            assert (seen(f"ordering/{name}")["wrong_runs"], seen(f"ordering/{name}")["hung"]) == (0, 0)

    def test_without_the_barrier_the_late_warp_s_words_are_missing(self):
        found = seen("ordering/store-late/no-barrier")
        assert found["wrong_runs"] > 0.9 * found["runs"]
