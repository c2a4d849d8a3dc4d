"""What Figure 1 is given: bytes decoded without the model's help, packed, and compared chunk by chunk."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tmalab import model
from tmalab.errors import HardwareError, RecordingError
from tmalab.experiment.catalogue import TILE_BOXES, TILE_MEMORY, tile_cases, tile_figure_case, tile_figure_map
from tmalab.experiment.memory import make_bytes
from tmalab.figures.tile_state import TileState, unpack
from tmalab.figures.tile_tables import (
    CHANGED,
    SMEM_BYTES,
    UNTOUCHED,
    decode,
    pack,
    states,
    swizzle_words,
    tile_spec,
)

STATES = list(states())
TENSOR = make_bytes(TILE_MEMORY)


def state(swizzle="128B", row=0, col=0, base=0, view="hardware", cell=(3, 5)):
    return {"swizzle": swizzle, "row": row, "col": col, "base": base, "view": view, "cell": cell}


@pytest.fixture(scope="module")
def measured(stand_in):
    return tile_spec(stand_in(), "A tile")[0]


def test_the_states_are_the_catalogues_in_its_order():
    assert [tile_figure_case(*one).name for one in STATES] == [case.name for case in tile_cases()]
    assert len(STATES) == 324


# --- decoding and packing --------------------------------------------------------------------------------------------


def test_every_chunk_of_the_tensor_is_known_by_its_bytes_alone():
    assert decode(TENSOR.tobytes(), TENSOR) == list(range(256))


@given(st.integers(0, 255), st.integers(0, 15), st.integers(1, 255))
def test_one_changed_byte_makes_a_chunk_nobodys(chunk, byte, flip):
    smem = bytearray(TENSOR[16 * chunk : 16 * chunk + 16].tobytes())
    smem[byte] ^= flip
    assert decode(bytes(smem), TENSOR) == [CHANGED]


@given(st.lists(st.integers(-2, 255), max_size=192))
@example([])
@example([UNTOUCHED] * 192)
@example([CHANGED])
def test_packing_loses_nothing(chunks):
    assert unpack(pack(chunks), len(chunks)) == chunks


# --- the model's numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swizzle", TILE_BOXES)
def test_the_words_numbers_are_the_models(swizzle):
    """Where the sentence says `chunk a XOR b = c`, c is where the model puts the chunk: for each chunk and base."""
    words = swizzle_words(swizzle)
    assert words["period"] == {"none": 1, "32B": 2, "64B": 4, "128B": 8}[swizzle]
    for base in range(0, SMEM_BYTES - 1024, 128):
        offsets = model.shared_offsets(tile_figure_map(swizzle), smem_base=base)[::8].T.ravel()
        for index, offset in enumerate(offsets.tolist()):
            line, slot = divmod(base // 16 + words["linear"][index], 8)
            assert divmod(offset // 16, 8) == (line, slot ^ words["phases"][line])
            assert words["phases"][line] == line % words["period"]


def test_the_phase_follows_the_absolute_address(measured):
    """The base moves the tile over a pattern that stands still: a line's XOR is the line's, whatever the base."""
    for swizzle in TILE_BOXES:
        phases = measured["swizzles"][swizzle]["phases"]
        for base in (0, 128, 640, 1024):
            found = TileState(measured, state(swizzle, base=base))
            for chunk, what in enumerate(found.model):
                if what != UNTOUCHED:
                    index = found.ids.index(what)
                    linear = base // 16 + found.mode["linear"][index]
                    assert chunk % 8 == (linear % 8) ^ phases[chunk // 8]


# --- hardware against model ------------------------------------------------------------------------------------------


def test_equal_bytes_give_equal_tables_in_every_state(measured):
    assert measured["hardware"] == measured["model"]
    assert measured["changed"] == {}
    for swizzle, row, col, base in STATES:
        found = TileState(measured, state(swizzle, row, col, base))
        assert not found.unequal
        assert [found.hardware[chunk] for chunk in found.compared] != []
        assert sorted(found.hardware[chunk] for chunk in found.compared) == sorted(found.ids)


def test_every_cell_says_which_byte_the_chunk_came_to(measured):
    smem = model.load(tile_figure_map("64B"), TENSOR, (8, 3), smem_bytes=SMEM_BYTES, smem_base=640)
    found = TileState(measured, state("64B", 3, 8, 640))
    for entry in found.data():
        row, column = entry["hardware"]
        byte = entry["shared_byte"]
        assert smem[byte : byte + 16].tobytes() == TENSOR[256 * row + 16 * column :][:16].tobytes()
        assert entry["banks"] == f"{byte % 128 // 4}–{byte % 128 // 4 + 3}"


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(STATES), st.integers(0, SMEM_BYTES - 1), st.integers(1, 255))
@example(("128B", 0, 0, 0), 483, 0x80)
@example(("32B", 8, 64, 1024), SMEM_BYTES - 1, 1)  # in shared memory that no box reaches
def test_one_flipped_byte_changes_its_cell_and_no_other(stand_in, measured, where, byte, flip):
    name = tile_figure_case(*where).name
    whole = stand_in()(tile_figure_case(*where))["smem"]
    spec, _ = tile_spec(stand_in({name: [(byte, whole[byte] ^ flip)]}), "A tile")
    assert spec["model"] == measured["model"]
    for number, one in enumerate(STATES):
        found, before = TileState(spec, state(*one)), TileState(measured, state(*one))
        assert found.model == before.model
        if one != where:
            assert found.hardware == before.hardware
            continue
        changed = [chunk for chunk in range(SMEM_BYTES // 16) if found.hardware[chunk] != before.hardware[chunk]]
        assert changed == [byte // 16] == sorted(found.unequal)
        assert found.hardware[byte // 16] == CHANGED
        assert found.count() == f"1 of {len(found.compared)} chunks differs"
        (told,) = spec["changed"][str(number)]
        assert (told["byte"], told["is"]) == (byte, f"{whole[byte] ^ flip:02x}")
        assert told["not"] == f"{whole[byte]:02x}"


def test_a_chunk_in_another_ones_place_is_named_not_called_changed(stand_in):
    name = "tile/128B/r0/c0/b0"
    swapped = [*((i, int(TENSOR[16 + i])) for i in range(16)), *((16 + i, int(TENSOR[i])) for i in range(16))]
    spec, _ = tile_spec(stand_in({name: swapped}), "A tile")
    found = TileState(spec, state())
    assert (found.hardware[:2], found.unequal, found.bytes) == ([1, 0], {0, 1}, {})
    assert found.count() == "2 of 64 chunks differ"


# --- what is not measured, and what failed ---------------------------------------------------------------------------


def test_a_state_without_a_recording_is_marked(stand_in):
    spec, provenance = tile_spec(stand_in(missing={"tile/none/r0/c0/b0"}), "A tile")
    assert [number for number, table in enumerate(spec["hardware"]) if table < 0] == [0]
    assert TileState(spec, state("none")).measured is False
    assert len(provenance["lines"]) == 1


def test_without_observations_everything_is_the_models():
    spec, provenance = tile_spec(None, "A tile")
    assert set(spec["hardware"]) == {-1}
    assert provenance == {"lines": [], "gpu": "GPU"}


def test_a_damaged_recording_is_not_passed_over(stand_in):
    def observe(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    with pytest.raises(RecordingError, match="damaged"):
        tile_spec(observe, "A tile")


@pytest.mark.parametrize("values", [{"error": "ILLEGAL_INSTRUCTION"}, {"completed": False}])
def test_bytes_of_a_failed_experiment_are_no_answer(stand_in, values):
    with pytest.raises(HardwareError, match=r"tile/64B/r3/c8/b128 ended with (ILLEGAL_INSTRUCTION|TIMEOUT)"):
        tile_spec(stand_in(values={"tile/64B/r3/c8/b128": values}), "A tile")


def test_states_measured_on_two_machines_keep_their_own_line(stand_in):
    from dataclasses import replace

    observe, provenance = stand_in(), stand_in()(tile_figure_case(*STATES[0])).provenance
    other = stand_in(provenance=replace(provenance, gpu="NVIDIA H100"), source="live")
    spec, told = tile_spec(lambda case: (other if case.name == "tile/none/r0/c0/b0" else observe)(case), "A tile")
    assert told["of"] == [0, *[1] * 323]
    assert told["lines"][0].startswith("Run just now on NVIDIA H100 (sm_90)")
    assert told["lines"][1].startswith("Recorded on NVIDIA H200 (sm_90)")
    assert set(spec["hardware"]) == set(spec["model"])


def test_the_tables_are_plain_json_and_small(measured):
    text = json.dumps(measured, separators=(",", ":"))
    assert json.loads(text) == measured
    assert len(text) <= 50_000


# --- the recordings ---------------------------------------------------------------------------------------------------


def test_every_state_is_recorded_and_is_as_the_model_says():
    from tmalab import observe

    spec, provenance = tile_spec(lambda case: observe(case, live=False), "A tile")
    assert -1 not in spec["hardware"]
    assert spec["hardware"] == spec["model"]
    assert "H200" in provenance["gpu"]
