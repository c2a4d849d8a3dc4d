"""The store gives back what was put in, and says which file is at fault when it cannot."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from tmalab.errors import RecordingError
from tmalab.experiment.case import Case
from tmalab.recordings.files import pack_arrays
from tmalab.recordings.store import MANIFEST, SCHEMA, Store


@pytest.fixture
def store(tmp_path, seen) -> Store:
    store = Store(tmp_path / "data")
    store.write({"demo": [seen(number) for number in range(5)], "other": [seen(10, smem_bytes=64)]})
    return store


def the_npz(store: Store, group: str = "demo"):
    return store.folder / store.manifest()["files"][group]["file"]


def same(left, right) -> bool:
    """Are two observations equal but for their source?"""
    return (
        left.case == right.case
        and left.values == right.values
        and left.provenance == right.provenance
        and set(left.arrays) == set(right.arrays)
        and set(left.undefined) == set(right.undefined)
        and all(np.array_equal(left.arrays[name], right.arrays[name]) for name in left.arrays)
        and all(left.arrays[name].dtype == right.arrays[name].dtype for name in left.arrays)
        and all(np.array_equal(left.undefined[name], right.undefined[name]) for name in left.undefined)
    )


# --- what goes in comes out ------------------------------------------------------------------------------------------


def test_every_observation_comes_back_as_it_went_in(store, seen):
    for number in range(5):
        back = Store(store.folder).get(seen(number).case)
        assert same(back, seen(number))
        assert back.source == "recorded"


def test_a_case_of_another_name_finds_the_recording_by_its_key(store, seen):
    case = seen(3).case
    renamed = Case("mine", case.probe, case.params)
    back = store.get(renamed)
    assert np.array_equal(back["smem"], seen(3)["smem"])
    assert back.case.name == "mine"


def test_what_was_not_recorded_is_none(store, seen):
    assert store.get(seen(99).case) is None
    assert seen(99).case not in store
    assert seen(2).case in store


def test_an_empty_folder_holds_nothing(tmp_path, seen):
    store = Store(tmp_path / "none")
    assert store.get(seen(0).case) is None
    assert store.cases() == {}


def test_recorded_arrays_cannot_be_changed(store, seen):
    with pytest.raises(ValueError, match="read-only"):
        store.get(seen(1).case)["smem"][0] = 1


def test_each_group_is_one_file_and_only_the_asked_one_is_read(store, seen):
    assert len(list(store.folder.glob("*.npz"))) == 2
    the_npz(store, "other").unlink()
    assert store.get(seen(1).case) is not None
    with pytest.raises(RecordingError, match="other"):
        store.get(seen(10, smem_bytes=64).case)


def test_values_of_numpy_become_plain(tmp_path, seen):
    store = Store(tmp_path)
    store.write({"demo": [seen(1, values={"registers": np.int64(17), "share": np.float32(0.5)})]})
    assert store.get(seen(1).case).values == {"registers": 17, "share": 0.5}


def test_dates_and_repeats_are_kept_for_each_case(tmp_path, seen, provenance):
    other = replace(provenance, date="2027-01-01T00:00:00+00:00", repeats=20)
    store = Store(tmp_path)
    store.write({"demo": [seen(1), seen(2, provenance=other)]})
    assert store.get(seen(1).case).provenance == provenance
    assert store.get(seen(2).case).provenance == other
    assert len(store.manifest()["provenance"]) == 1  # what they share is listed once


# --- writing ---------------------------------------------------------------------------------------------------------


def test_one_group_is_rewritten_and_the_others_stay(store, seen):
    before = the_npz(store, "other").read_bytes()
    store.write({"demo": [seen(7)]})
    assert set(store.cases()) == {"demo/7", "demo/10"}
    assert the_npz(store, "other").read_bytes() == before
    assert len(list(store.folder.glob("*.npz"))) == 2  # the old file of the group is gone


def test_the_same_content_gives_the_same_files(tmp_path, seen):
    names = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        Store(folder).write({"demo": [seen(number) for number in range(4)]})
        names.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()})
    assert names[0] == names[1]


def test_the_order_of_arrays_does_not_change_the_file():
    one, two = np.arange(9), np.ones((2, 3))
    assert pack_arrays({"one": one, "two": two}) == pack_arrays({"two": two, "one": one})


def test_the_same_experiment_twice_is_refused(tmp_path, seen):
    with pytest.raises(RecordingError, match="twice"):
        Store(tmp_path).write({"demo": [seen(1), seen(1, name="again")]})


def test_a_mask_that_does_not_fit_is_refused(tmp_path, seen):
    with pytest.raises(RecordingError, match="mask of 'smem'"):
        Store(tmp_path).write({"demo": [seen(1, undefined={"smem": np.zeros(3, bool)})]})


def test_an_array_of_objects_is_refused(tmp_path, seen):
    with pytest.raises(RecordingError, match="pickle"):
        Store(tmp_path).write({"demo": [seen(1, arrays={"smem": np.array([None])}, undefined={})]})


def test_values_that_json_lacks_are_refused(tmp_path, seen):
    with pytest.raises(RecordingError, match="not JSON"):
        Store(tmp_path).write({"demo": [seen(1, values={"share": float("nan")})]})


def test_a_failed_write_changes_nothing(store, seen, monkeypatch):
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    monkeypatch.setattr("tmalab.recordings.store._manifest_bytes", lambda manifest: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.write({"demo": [seen(7)]})
    after = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    assert before.items() <= after.items()
    assert same(Store(store.folder).get(seen(1).case), seen(1))


def test_a_folder_that_cannot_be_written_is_named(tmp_path, seen):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(RecordingError, match=r"file=.*cannot .*Fix"):
        Store(tmp_path / "file" / "data").write({"demo": [seen(1)]})


def test_no_temporary_file_is_left(store):
    assert not list(store.folder.glob(".*"))


# --- damage ----------------------------------------------------------------------------------------------------------


def refuses(store: Store, case: Case, file: str) -> str:
    """The message of the RecordingError that reading `case` raises; it names `file` and a remedy."""
    with pytest.raises(RecordingError) as caught:
        Store(store.folder).get(case)
    message = str(caught.value)
    assert file in message
    assert "Fix:" in message
    return message


def test_any_flipped_byte_of_an_npz_is_found(store, seen):
    path = the_npz(store)
    content = path.read_bytes()
    for position in range(0, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0x10]) + content[position + 1 :])
        assert "SHA-256" in refuses(store, seen(0).case, path.name)


def test_any_flipped_byte_of_the_manifest_is_found(store, seen):
    path = store.folder / MANIFEST
    content = path.read_bytes()
    for position in range(0, len(content), 7):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0x04]) + content[position + 1 :])
        refuses(store, seen(0).case, MANIFEST)


@pytest.mark.parametrize("kept", [0, 1, 100, -1])
def test_a_truncated_file_is_found(store, seen, kept):
    for path in (the_npz(store), store.folder / MANIFEST):
        content = path.read_bytes()
        path.write_bytes(content[:kept])
        assert "damaged" in refuses(store, seen(0).case, path.name)
        path.write_bytes(content)


def test_a_missing_npz_is_named(store, seen):
    path = the_npz(store)
    path.unlink()
    assert "No such file" in refuses(store, seen(0).case, path.name)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\xff", '{"schema": 1}', '{"sha256": "0", "schema": 1}'])
def test_a_manifest_that_is_none_is_refused(store, seen, text):
    (store.folder / MANIFEST).write_text(text, encoding="latin-1")
    assert "damaged" in refuses(store, seen(0).case, MANIFEST)


def resealed(manifest: dict) -> bytes:
    """A manifest whose hash is right, whatever stands in it."""
    tail = b", " + json.dumps(manifest).encode()[1:]
    return b'{"sha256": "%s"' % hashlib.sha256(tail).hexdigest().encode() + tail


def test_another_schema_version_is_refused_with_both_numbers(store, seen):
    manifest = {name: value for name, value in store.manifest().items() if name != "sha256"}
    (store.folder / MANIFEST).write_bytes(resealed({**manifest, "schema": SCHEMA + 1}))
    message = refuses(store, seen(0).case, MANIFEST)
    assert f"version {SCHEMA + 1}" in message
    assert f"reads {SCHEMA}" in message


def test_a_pickle_is_not_opened_even_under_a_right_hash(store, seen):
    """Only who can write the manifest too could do this; it still runs no code of theirs."""
    path = the_npz(store)
    stacks = store.manifest()["cases"][seen(0).case.key]["arrays"].values()
    with path.open("wb") as file:
        np.savez(file, **{stack: np.array([Case("a", "b")], dtype=object) for stack, _ in stacks})
    manifest = {name: value for name, value in store.manifest().items() if name != "sha256"}
    content = path.read_bytes()
    manifest["files"]["demo"] |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    (store.folder / MANIFEST).write_bytes(resealed(manifest))
    assert "Object arrays" in refuses(store, seen(0).case, path.name)


def test_a_row_that_is_not_there_is_a_recording_error(store, seen):
    manifest = {name: value for name, value in store.manifest().items() if name != "sha256"}
    manifest["cases"][seen(0).case.key]["arrays"]["smem"][1] = 10**6
    (store.folder / MANIFEST).write_bytes(resealed(manifest))
    assert "not whole" in refuses(store, seen(0).case, MANIFEST)


def test_a_store_that_is_open_sees_new_recordings(store, seen):
    opened = Store(store.folder)
    assert opened.get(seen(7).case) is None
    store.write({"late": [seen(7)]})
    assert opened.get(seen(7).case) is not None


def test_clearing_leaves_what_is_not_a_recording(store):
    (store.folder / "notes.txt").write_text("mine")
    store.clear()
    assert [path.name for path in store.folder.iterdir()] == ["notes.txt"]
