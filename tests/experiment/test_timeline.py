"""`Timeline` keeps its clock's promises, and its export keeps the rules of the Trace Event Format."""

from __future__ import annotations

import json

import pytest

from tmalab.experiment.timeline import Counts, Event, Timeline

EVENTS = (
    Event("arm", "producer", 10, 20, "mbarrier.arrive…", Counts(0, 1, 0), Counts(0, 0, 4096)),
    Event("A in flight", "engine", 20, 620, latest=True),
    Event("A complete", "barrier", 620, 620, before=Counts(0, 0, 4096), after=Counts(0, 0, 2048), latest=True),
    Event("wait", "consumer", 5, 900, detail={"tries": 1}),
)
LINE = Timeline("two loads", ("producer", "engine", "barrier", "consumer"), EVENTS, 2.0, 32, "an H200", ("a note",))


def test_nanoseconds_are_cycles_by_the_measured_ratio():
    assert LINE.ns(900) == 450
    written = LINE.to_dict()["events"][0]
    assert (written["begin_ns"], written["end_ns"]) == (5.0, 10.0)


def test_a_lane_has_its_events():
    assert [event.name for event in LINE.of_lane("barrier")] == ["A complete"]


def test_the_dict_is_json_with_a_version_and_all_it_needs():
    written = json.loads(json.dumps(LINE.to_dict()))
    assert written["schema"] == 1
    assert written["events"][0]["after"] == {"phase": 0, "pending_count": 0, "tx_count": 4096}
    assert written["provenance"] == "an H200"


class TestChromeTrace:
    """Source of the rules: Trace Event Format, "JSON Object Format", "Complete", "Instant", "Counter", "Metadata"."""

    trace = json.loads(json.dumps(LINE.to_chrome_trace()))
    events = trace["traceEvents"]

    def test_it_is_an_object_with_a_list_of_events(self):
        assert isinstance(self.events, list)
        assert self.trace["displayTimeUnit"] in ("ms", "ns")
        assert self.trace["otherData"]["provenance"] == "an H200"
        assert all(isinstance(value, str | int | float) for value in self.trace["otherData"].values())

    def test_every_event_says_what_where_and_when(self):
        for event in self.events:
            assert event["ph"] in ("M", "X", "i", "C")
            assert isinstance(event["name"], str)
            assert isinstance(event["pid"], int)
            assert isinstance(event["tid"], int)
            if event["ph"] != "M":
                assert event["ts"] >= 0

    def test_spans_are_complete_events_in_microseconds(self):
        spans = {event["name"]: event for event in self.events if event["ph"] == "X"}
        assert set(spans) == {"arm", "A in flight", "wait"}
        assert (spans["A in flight"]["ts"], spans["A in flight"]["dur"]) == (0.01, 0.3)
        assert spans["arm"]["args"]["ptx"].startswith("mbarrier")
        assert spans["wait"]["args"]["tries"] == 1

    def test_what_takes_no_time_is_an_instant_of_its_thread(self):
        (instant,) = [event for event in self.events if event["ph"] == "i"]
        assert (instant["name"], instant["s"], "dur" in instant) == ("A complete", "t", False)
        assert instant["args"]["seen"] == "at its end"

    def test_every_lane_is_a_named_thread_and_every_event_is_in_one(self):
        names = {event["tid"]: event["args"]["name"] for event in self.events if event["name"] == "thread_name"}
        assert list(names.values()) == list(LINE.lanes)
        for event in self.events:
            if event["ph"] in "Xi":
                assert names[event["tid"]] == event["cat"]

    def test_spans_of_one_thread_do_not_overlap(self):
        """A viewer nests what overlaps, and drops what it cannot nest."""
        loads = [
            Event(name, "engine", begin, end) for name, begin, end in (("B", 30, 90), ("A", 10, 70), ("C", 70, 75))
        ]
        line = Timeline("two loads", ("engine", "consumer"), (*loads, Event("wait", "consumer", 0, 90)), 1.98, 32)
        events = line.to_chrome_trace()["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        assert names == {1: "engine", 2: "engine", 3: "consumer"}
        assert {event["name"]: event["tid"] for event in events if event["ph"] == "X"} == {
            "A": 1, "B": 2, "C": 1, "wait": 3
        }  # fmt: skip

    def test_the_counts_are_counters_of_numbers(self):
        counters = [event for event in self.events if event["ph"] == "C"]
        assert [event["args"] for event in counters] == [
            {"pending_count": 0, "tx_count": 4096},
            {"pending_count": 0, "tx_count": 2048},
        ]
        assert [event["ts"] for event in counters] == [0.01, 0.31]


def test_an_event_of_no_lane_is_a_mistake_that_shows():
    stray = Timeline("stray", ("producer",), (Event("x", "nobody", 0, 1),), 2.0, 32)
    with pytest.raises(KeyError, match="nobody"):
        stray.to_chrome_trace()
