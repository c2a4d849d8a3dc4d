"""`observe` gives the recording, or a live run where one is asked for, or says what stands in the way."""

from __future__ import annotations

import time
from importlib import import_module
from statistics import median

import pytest

from tmalab import observe
from tmalab.errors import InputError, NoHopperGpuError, RecordingError
from tmalab.experiment import catalogue
from tmalab.experiment.case import Case
from tmalab.recordings.store import Store


@pytest.fixture
def store(tmp_path, seen, monkeypatch) -> Store:
    """Recordings of three cases, two of them from the catalogue, in place of the package's own."""
    store = Store(tmp_path / "data")
    names = ["tile/128B/r0/c64/b256", "edges/fill-nan"]
    store.write({"demo": [seen(number, case=catalogue.case(name)) for number, name in enumerate(names)] + [seen(7)]})
    monkeypatch.setattr("tmalab.recordings.observe.default_store", lambda: store)
    monkeypatch.delenv("TMALAB_SOURCE", raising=False)
    return store


@pytest.fixture
def live(monkeypatch, seen) -> list[tuple[str, int]]:
    """Runs that were asked of the hardware, which here answers at once."""
    asked: list[tuple[str, int]] = []

    def run_case(case, *, repeats=1):
        asked.append((case.name, repeats))
        return seen(0, case=case)

    monkeypatch.setattr(import_module("tmalab.hardware.runner"), "run_case", run_case)
    return asked


def test_a_name_is_enough(store):
    seen = observe("tile/128B/r0/c64/b256")
    assert seen.source == "recorded"
    assert seen.case == catalogue.case("tile/128B/r0/c64/b256")


def test_a_case_is_found_by_what_it_does(store):
    case = catalogue.case("edges/fill-nan")
    assert observe(Case("of my own", case.probe, case.params)).source == "recorded"


def test_live_runs_it_now(store, live):
    assert observe("edges/fill-nan", live=True, repeats=3).source == "live"
    assert live == [("edges/fill-nan", 3)]


def test_the_environment_chooses_where_the_argument_does_not(store, live, monkeypatch):
    monkeypatch.setenv("TMALAB_SOURCE", "live")
    assert observe("edges/fill-nan").source == "live"
    assert observe("edges/fill-nan", live=False).source == "recorded"
    monkeypatch.setenv("TMALAB_SOURCE", "recorded")
    assert observe("edges/fill-nan").source == "recorded"
    monkeypatch.setenv("TMALAB_SOURCE", "")
    assert observe("edges/fill-nan").source == "recorded"


def test_another_word_in_the_environment_is_refused(store, monkeypatch):
    monkeypatch.setenv("TMALAB_SOURCE", "Live")
    with pytest.raises(InputError, match=r"TMALAB_SOURCE='Live'.*recorded or live"):
        observe("edges/fill-nan")


def test_an_unknown_name_is_an_input_error_with_the_nearest(store):
    with pytest.raises(InputError, match="edges/fill-nan"):
        observe("edges/fill_nan")


@pytest.mark.parametrize("case", [None, 7, {"name": "edges/fill-nan"}])
def test_what_is_no_case_is_refused(store, case):
    with pytest.raises(InputError, match="not a case"):
        observe(case)


@pytest.mark.parametrize("repeats", [0, -1, 1.5, "2", True])
def test_what_is_no_number_of_runs_is_refused(store, repeats):
    with pytest.raises(InputError, match="repeats="):
        observe("edges/fill-nan", repeats=repeats)


def test_a_catalogue_case_without_recording_says_how_to_get_it(store):
    with pytest.raises(RecordingError, match=r"barrier/armed-right.*live=True.*tmalab record --only barrier"):
        observe("barrier/armed-right")


def test_a_changed_case_is_told_what_was_recorded_under_its_name(store):
    case = catalogue.case("edges/fill-nan")
    changed = Case(case.name, case.probe, {**case.params, "coords": [0, 0], "smem_base": 128})
    with pytest.raises(RecordingError, match=r"another coords, smem_base.*live=True"):
        observe(changed)


def test_a_case_of_ones_own_is_told_the_nearest_recorded(store):
    with pytest.raises(RecordingError, match=r"nearest that are: edges/fill-nan.*live=True"):
        observe(Case("edges/fill-nano", "transfer", {"coords": [1]}))
    with pytest.raises(RecordingError, match="not recorded"):
        observe(Case("zzz", "transfer", {"coords": [1]}))


def test_live_without_a_gpu_says_so(store, monkeypatch):
    def none_here(case, **options):
        raise NoHopperGpuError("no NVIDIA driver library")

    monkeypatch.setattr(import_module("tmalab.hardware.runner"), "run_case", none_here)
    with pytest.raises(NoHopperGpuError, match="no NVIDIA driver library"):
        observe("edges/fill-nan", live=True)


def test_a_warm_lookup_takes_less_than_a_millisecond(store):
    def seconds() -> float:
        start = time.process_time()
        observe("tile/128B/r0/c64/b256")
        return time.process_time() - start

    seconds()
    assert median(seconds() for _ in range(50)) < 1e-3


def test_without_a_manifest_the_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tmalab.recordings.observe.default_store", lambda: Store(tmp_path / "nothing"))
    with pytest.raises(RecordingError, match=r"manifest\.json.*no recordings here"):
        observe("edges/fill-nan", live=False)


def test_what_was_not_observed_is_answered_with_what_was(store):
    with pytest.raises(InputError, match=r"name='zebra': not observed. Fix: use one of "):
        observe("edges/fill-nan")["zebra"]
