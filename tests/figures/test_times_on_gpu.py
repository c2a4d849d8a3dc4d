"""On a Hopper GPU: the figures of time draw what runs of now give, and it happens in the order in which it must."""

import pytest

from tmalab import observe
from tmalab.experiment.timeline_cases import WARMTHS
from tmalab.figures.landing_tables import WARMTHS as LANDING_WARMTHS
from tmalab.figures.landing_tables import landing_spec
from tmalab.figures.loads_tables import loads_spec
from tmalab.figures.pipeline import PipelineFigure

pytestmark = pytest.mark.gpu


def live(case):
    return observe(case, live=True, repeats=5)


def test_two_loads_are_issued_fly_land_and_are_waited_for():
    _, provenance = loads_spec(live, "Live")
    assert len(provenance["states"]) == len(WARMTHS)
    for state in provenance["states"]:
        at = {mark["key"]: (mark["from"], mark.get("to")) for lane in state["lanes"] for mark in lane["marks"]}
        assert at["arm"][1] <= at["issue-A"][0]
        assert at["issue-A"][1] <= at["issue-B"][0]
        for name in "AB":
            assert at[f"issue-{name}"][1] == at[f"flight-{name}"][0] < at[f"land-{name}"][0]
        # a line is seen a look late, so the phase may be seen first
        assert at["wait"][1] > max(at["land-A"][1], at["land-B"][1]) - 200
        assert "Words that the consumer read too early: 0." in state["difference"]
        assert provenance["lines"][state["line"]].startswith("Run just now on ")


def test_a_tile_lands_after_its_issue_and_about_as_its_barrier_says():
    def some(case):
        return live(case) if case.name.startswith("landing/64x64-128B/") else observe(case, live=False)

    spec, provenance = landing_spec(some, "Live")
    first = spec["choices"]["tile"].index("64x64-128B") * len(LANDING_WARMTHS)
    for state in provenance["states"][first : first + len(LANDING_WARMTHS)]:
        lanes = {lane["name"]: lane["marks"] for lane in state["lanes"]}
        assert lanes["pieces"][0]["from"] > state["issued"]
        assert abs(lanes["pieces"][0]["to"] - state["complete"]) < 300


def test_a_pipeline_s_tiles_come_in_turn_and_a_deeper_ring_leaves_less_to_wait_for():
    def some(case):
        return live(case) if case.name == "pipeline/hbm/16384" else observe(case, live=False)

    figure = PipelineFigure(some, tile=16384)
    waited = []
    for stages in (1, 2, 4):
        figure.stages = stages
        run = figure._found.run
        for before, after in (
            ("empty_seen", "issued"),
            ("issued", "full"),
            ("full", "full_seen"),
            ("full_seen", "read_end"),
        ):
            assert all(one <= other for one, other in zip(run[before], run[after], strict=True))
        for name in ("issued", "full_seen", "read_end"):
            assert run[name] == sorted(run[name])
        waited.append(figure._found.parts()[1])
    assert waited == sorted(waited, reverse=True)
    assert waited[0] > 100
