"""The figure "wgmma": its tables against the tile told again, chunks that were changed, and the recordings."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tmalab import observe
from tmalab.errors import HardwareError, InputError, RecordingError
from tmalab.experiment.observation import Observation, Provenance
from tmalab.experiment.wgmma_cases import DESCRIPTORS, TILES, product_operand, tile_values
from tmalab.figures import WgmmaFigure
from tmalab.figures.wgmma_state import WgmmaState
from tmalab.figures.wgmma_tables import chunks_of, pack, unpack, wgmma_spec

PROVENANCE = Provenance("NVIDIA H200", "9.0", "0.0", "0.0", "0.0", "stand-in", "0" * 64, "2000-01-01T00:00:00Z", 1)
EVERY = np.arange(4096).reshape(64, 64)
STATES = [(tile, descriptor) for tile in TILES for descriptor in DESCRIPTORS]
each_state = pytest.mark.parametrize(("tile", "descriptor"), STATES)


def chunk_at(tile, byte):
    """Which chunk of the tile stands at a byte of shared memory: told again, without the model."""
    line, place = divmod(byte // 16, 8)
    if tile in ("128B", "rows"):
        return line * 8 + (place ^ (line % 8 if tile == "128B" else 0))
    row_chunks = {"64B": 4, "32B": 2, "none": 1}[tile]
    place ^= {"64B": line % 4, "32B": line % 2, "none": 0}[tile]
    group, inner = divmod(line * 8 + place, 64 * row_chunks)
    return inner // row_chunks * 8 + group * row_chunks + inner % row_chunks


def read_at(descriptor, chunk):
    """The byte from which that descriptor's tile has a chunk: the other way round."""
    return next(16 * place for place in range(512) if chunk_at(descriptor, 16 * place) == chunk)


def changed(name, index, value):
    """The recordings of the tile 128B, with one entry of one array changed."""

    def stand_in(case):
        seen = observe(case, live=False)
        if case.name != "wgmma/A/128B":
            return seen
        array = seen[name].copy()
        array[index] = value
        return replace(seen, arrays={**seen.arrays, name: array})

    return stand_in


@pytest.fixture(scope="module")
def figure():
    return WgmmaFigure(observe)


def state(spec, tile="128B", descriptor="none", rows=0, view="hardware", cell=(3, 1)):
    return WgmmaState(spec, {"tile": tile, "descriptor": descriptor, "rows": rows, "view": view, "cell": cell})


@each_state
def test_each_state_is_what_the_layouts_say(figure, tile, descriptor):
    found = state(figure.spec, tile, descriptor)
    assert found.places == [chunk_at(tile, 16 * place) for place in range(512)]
    assert found.read == [chunk_at(tile, read_at(descriptor, chunk)) for chunk in range(512)]
    assert found.measured
    assert found.unequal == set()
    assert found.moved == 0
    right = sum(read == chunk for chunk, read in enumerate(found.read))
    assert found.one["right"] == {"hardware": 8 * right, "model": 8 * right}
    assert (right == 512) == (tile == descriptor)
    assert found.one["product"]["hardware"] == found.one["product"]["model"]
    assert (found.one["product"]["hardware"][0] == 0) == (tile == descriptor)


def test_the_product_is_the_wrong_one_of_what_was_read(figure):
    found = state(figure.spec, "rows", "128B")
    elements = np.array(found.read)[:, None] * 8 + np.arange(8)
    values = tile_values().astype(np.float64)
    off = abs((values.ravel()[elements.reshape(64, 64)] - values) @ product_operand().astype(np.float64).T)
    assert found.product() == f"{(off > 0).sum()} of 512 wrong, by up to {off.max():.1f}"


def test_what_is_said():
    figure = WgmmaFigure(observe, tile="rows", descriptor="128B")
    assert figure.sentence() == (
        "Asked for row 3, columns 8–15, which stands at shared byte 400, wgmma read shared byte 416: row 3, columns "
        "16–23. Measured: so it is."
    )
    figure.view = "model"
    assert figure.sentence().endswith("columns 16–23.")
    figure.cell = (0, 1)
    assert figure.sentence() == "Row 0, columns 8–15: read from shared byte 16, where it stands."
    assert figure._found.about() == (
        "The tile stands as one box of 64 columns: rows of 128 bytes, without swizzle. The descriptor expects rows of "
        "128 bytes, swizzled 128B. 3584 of 4096 elements are not the ones that were asked for."
    )
    figure.tile = "128B"
    assert figure._found.about().endswith("Every element is the one that was asked for.")


def test_a_wrong_element_in_the_recording_is_one_chunk_and_no_other(figure):
    spec, _ = wgmma_spec(changed("read", (0, 3, 9), 5), "Changed")
    found = state(spec, "128B", "128B", view="difference")
    assert found.unequal == {3 * 8 + 1}
    assert found.note() == "1 of 512 chunks differs"
    assert found.sentence().endswith(
        "wgmma read no chunk of the tile. Measured, where the model says row 3, columns 8–15."
    )
    assert found.one["right"] == {"hardware": 4095, "model": 4096}
    assert [row[5] for row in found.table()[1]].count("differs") == 1
    for tile, descriptor in STATES[1:]:
        assert state(spec, tile, descriptor).unequal == set()
    assert state(spec, "128B", "128B", view="model").read == list(range(512))


def test_a_changed_byte_of_shared_memory_is_counted():
    spec, _ = wgmma_spec(changed("smem", 160, 0), "Changed")
    found = state(spec, "128B", "128B")
    assert (found.moved, found.unequal) == (1, set())
    assert found.note() == "0 of 512 chunks differ, and 1 of shared memory"
    assert found.byte(chunk_at("128B", 160)) is None
    assert found.sentence().startswith("Row 3")


def test_a_changed_product_is_shown_as_it_was():
    spec, _ = wgmma_spec(changed("product", (0, 5, 2), 1000.0), "Changed")
    assert state(spec, "128B", "128B").one["product"]["hardware"][0] == 1
    assert state(spec, "128B", "128B", view="model").product() == "0 of 512 wrong"


def test_a_tile_without_a_recording_says_so():
    def partly(case):
        if case.name == "wgmma/A/rows":
            raise RecordingError("not recorded yet", field="case", value=case.name)
        return observe(case, live=False)

    figure = WgmmaFigure(partly, tile="rows")
    assert figure.source() == "Model, not measured: there is no recording of this tile."
    assert figure.sentence().endswith(" Model, not measured.")
    assert "model, not measured" in figure.svg()
    assert figure.table()[1][0][2:4] == ["not measured", "0, 0–7"]
    assert figure.data()["table"][0]["hardware"] == "not measured"
    figure.tile = "64B"
    assert figure.source().startswith("Recorded on NVIDIA H200 (sm_90)")
    assert WgmmaFigure(None).source().startswith("Model, not measured")


def test_a_damaged_recording_and_a_failed_run_are_no_answer():
    def damaged(case):
        raise RecordingError("the recording is damaged", field="file", value="x.npz")

    def failed(case):
        return Observation(case, {}, {"error": "ILLEGAL_ADDRESS"}, PROVENANCE, "live")

    with pytest.raises(RecordingError, match="damaged"):
        WgmmaFigure(damaged)
    with pytest.raises(HardwareError, match="wgmma/A/128B ended with ILLEGAL_ADDRESS"):
        WgmmaFigure(failed)


def test_chunks_are_eight_whole_elements_or_none():
    assert unpack(pack([*range(512), -1])) == [*range(512), -1]
    assert chunks_of([*range(8, 16), *range(8)]) == [1, 0]
    assert chunks_of([*range(4, 12)]) == [-1]
    assert chunks_of([0, 1, 2, 3, 4, 5, 7, 6]) == [-1]
    assert chunks_of([-1] * 8) == [-1]


@each_state
def test_every_state_has_its_picture_sentence_and_table(figure, tile, descriptor):
    figure.tile, figure.descriptor, figure.rows = tile, descriptor, 56
    assert figure.svg().startswith("<svg ")
    assert "H200" not in figure.svg() + figure.sentence()
    head, rows = figure.table()
    assert {len(row) for row in rows} == {len(head)}
    assert len(rows) == 64
    assert [row[4] for row in rows] == [
        "right" if figure._found.read[chunk] == chunk else "wrong" for chunk in range(448, 512)
    ]
    assert len(figure.data()["table"]) == 512
    figure.tile, figure.descriptor, figure.rows = "128B", "none", 0


def test_its_data_is_plain_json_and_small(figure):
    text = json.dumps(figure.spec, separators=(",", ":"))
    assert json.loads(text) == json.loads(json.dumps(figure.spec))
    assert len(text) <= 40_000
    assert len(figure.html()) <= 80_000
    assert repr(figure) == "WgmmaFigure(tile='128B', descriptor='none', rows=0, view='hardware', cell=(3, 1))"


@pytest.mark.parametrize(
    "wrong", [{"tile": "96B"}, {"descriptor": "rows"}, {"rows": 4}, {"view": "guess"}, {"cell": (8, 0)}]
)
def test_a_state_that_it_does_not_have_is_an_error(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        WgmmaFigure(None, **wrong)
