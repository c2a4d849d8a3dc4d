"""The tile of many front ends: its expected bytes against arithmetic by hand, a verdict against what was put in."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import observe
from tmalab.experiment.frontend_tile_cases import ADDRESS, SMEM_BYTES, TASK, frontend_tile_cases, task_map, tile_case
from tmalab.experiment.frontend_tiles import RAW_PTX, REST, TileVerdict, expected_tile
from tmalab.experiment.observation import Observation, Provenance
from tmalab.hardware.compile import KERNELS
from tmalab.model.encoded_map import bits_of
from tmalab.model.tensor_map import TensorMap

WHERE = Provenance("NVIDIA H200", "9.0", "580.0", "13.0", "13.0", "triton/tile.py", "0" * 64, "2000-01-01", 1)


@pytest.mark.parametrize("address", [1024, 0, 2048 + 256, 128])
def test_a_chunk_stands_where_its_address_s_line_puts_it(address):
    words = expected_tile(task_map(), (128, 96), address).view("<u2")
    for row in range(32):
        for chunk in range(8):
            line = (address + 128 * row) // 128
            at = (row * 8 + (chunk ^ line % 8)) * 8
            first = 320 * (96 + row) + 128 + 8 * chunk
            assert words[at : at + 8].tolist() == list(range(first, first + 8))


def test_a_map_of_more_dimensions_gives_the_same_tile():
    tiled = TensorMap.tiled("float16", (64, 8, 5, 24), (640, 128, 5120), (64, 8, 1, 4), swizzle="128B", address=ADDRESS)
    assert tiled.violations() == []
    assert expected_tile(tiled, (0, 0, 2, 12)).tolist() == expected_tile(task_map(), (128, 96)).tolist()


def encoded(**changes: int) -> np.ndarray:
    fields = {
        "address": ADDRESS, "rank": 1, "dtype": 6, "swizzle": 3, "global_strides[0]": 40, "global_dim[0]": 319,
        "global_dim[1]": 191, "box_dim[0]": 63, "box_dim[1]": 31, **changes,
    }  # fmt: skip
    whole = 0
    for name, value in fields.items():
        for first, count in bits_of(name):
            whole |= (value & (1 << count) - 1) << first
            value >>= count
    return np.frombuffer(whole.to_bytes(128, "little"), np.uint8)


def verdict(smem=None, **arrays) -> TileVerdict:
    smem = expected_tile(task_map(), (128, 96)) if smem is None else smem
    values = {"coords": [128, 96], "smem_address": 1024}
    return TileVerdict(Observation(tile_case("triton", "host"), {"smem": smem, **arrays}, values, WHERE, "recorded"))


def test_a_verdict_counts_bytes_and_names_fields():
    right = verdict(descriptor=encoded(), driver_descriptor=encoded())
    assert (right.bytes_differing, right.unlike_the_driver, right.chosen) == (0, [], {})
    smem = expected_tile(task_map(), (128, 96)).copy()
    smem[[5, 700]] ^= 1
    wrong = verdict(smem, descriptor=encoded(l2_promotion=2, box_bytes=7), driver_descriptor=encoded(l2_promotion=2))
    assert wrong.bytes_differing == 2
    assert wrong.unlike_the_driver == ["box_bytes"]
    assert wrong.chosen == {"l2_promotion": ("none", "128B")}


def test_a_second_half_that_nobody_wrote_is_told_as_that():
    left = encoded().copy()
    left[8] |= 0x02  # bit 65
    left[72:104] = 0x5C  # whatever was in memory before
    own = encoded(box_bytes=4096, pattern_bytes=1024)
    seen = verdict(descriptor=left, driver_descriptor=own)
    assert seen.half_written
    assert seen.unlike_the_driver == ["bit 65", REST]
    assert not verdict(descriptor=own, driver_descriptor=own).half_written


def test_what_was_not_captured_is_none_and_not_equal():
    seen = verdict()
    assert seen.descriptor is None
    assert seen.unlike_the_driver is None
    assert seen.map == task_map()
    case = tile_case("numba", "argument")
    refused = TileVerdict(Observation(case, {}, {"raised": {"type": "ValueError"}}, WHERE, "recorded"))
    assert refused.bytes_differing is None


def test_every_case_is_the_same_task():
    task = {name: list(value) if isinstance(value, tuple) else value for name, value in TASK.items()}
    for case in frontend_tile_cases():
        if case.probe not in ("transfer", "encode"):
            assert {name: case.params[name] for name in TASK} == task
    assert task_map().transaction_bytes() == SMEM_BYTES


def test_the_raw_way_s_ptx_stands_in_the_kernel_s_headers():
    headers = "".join(path.read_text(encoding="utf-8") for path in sorted(KERNELS.glob("ptx*.cuh")))
    for line in RAW_PTX:
        assert f"// {line}" in headers


def test_the_recorded_raw_way_is_the_model_s_byte_for_byte():
    assert TileVerdict(observe("frontends/raw/load", live=False)).bytes_differing == 0
