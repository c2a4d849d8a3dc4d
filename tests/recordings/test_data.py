"""The recordings that ship: whole, small, of this catalogue, and made by the kernels as they stand."""

from __future__ import annotations

from tmalab.experiment import catalogue
from tmalab.hardware.compile import kernel_sha256
from tmalab.recordings.live import source_sha256
from tmalab.recordings.store import DATA, Store

STORE = Store()
RECORDED = STORE.cases()


def test_all_recordings_together_are_under_6_mb():
    assert sum(path.stat().st_size for path in DATA.glob("*")) < 6_000_000


def test_only_cases_of_the_catalogue_are_recorded():
    assert {name: case for name, case in RECORDED.items() if catalogue.cases().get(name) != case} == {}


def test_every_recording_can_be_read():
    for case in RECORDED.values():
        seen = STORE.get(case)
        assert seen is not None
        assert seen.source == "recorded"
        assert all(seen.undefined[name].shape == seen.arrays[name].shape for name in seen.undefined)


def test_kernels_still_hash_to_what_was_recorded():
    """Fails when a kernel or one of its headers changes: then `make record` is due on a Hopper GPU."""
    recorded = {(provenance.kernel, provenance.kernel_sha256) for provenance in STORE.provenances()}
    stale = [kernel for kernel, sha256 in recorded if sha256 and source_sha256(kernel) != sha256]
    assert stale == []
    no_kernel = {kernel for kernel, sha256 in recorded if not sha256}
    assert no_kernel <= {"cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col"}, (
        "only the driver's own functions have no source of ours"
    )


def test_a_changed_kernel_would_be_noticed(monkeypatch, tmp_path):
    """The test above, held to its word: one space more in a kernel's source changes its hash."""
    from tmalab.hardware import compile as compiling

    before = kernel_sha256("transfer")
    copy = tmp_path / "kernels"
    copy.mkdir()
    for path in compiling.KERNELS.iterdir():
        (copy / path.name).write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    monkeypatch.setattr(compiling, "KERNELS", copy)
    compiling.kernel_sources.cache_clear()
    compiling.kernel_sha256.cache_clear()
    try:
        assert compiling.kernel_sha256("transfer") != before
    finally:
        monkeypatch.undo()
        compiling.kernel_sources.cache_clear()
        compiling.kernel_sha256.cache_clear()


def test_every_case_of_the_catalogue_is_recorded():
    assert set(catalogue.cases()) - set(RECORDED) == set()
