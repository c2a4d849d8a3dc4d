"""One tile through every front end that is installed, on a Hopper GPU: the model's bytes; and the watch, alone."""

from __future__ import annotations

import pytest

from tmalab.experiment.frontend_tile_cases import ADDRESS, WAYS, task_map, tile_case
from tmalab.experiment.frontend_tiles import REST, TileVerdict
from tmalab.frontends.driver_watch import watch_driver
from tmalab.frontends.front_end import FRONT_ENDS
from tmalab.frontends.runner import run_case

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("front_end", "way"), WAYS)
def test_the_tile_is_the_model_s_byte_for_byte(front_end, way):
    if FRONT_ENDS[front_end].version() is None:
        pytest.skip(f"needs {FRONT_ENDS[front_end].title}: pip install 'tmalab[{FRONT_ENDS[front_end].extra}]'")
    found = TileVerdict(run_case(tile_case(front_end, way)))
    assert not found.seen["error"]
    if (front_end, way) == ("numba", "argument"):
        assert found.seen["raised"]["type"] == "ValueError"
        return
    assert found.bytes_differing == 0
    own = {("cute", "default"): ["bit 65", REST], ("triton", "device"): ["box_bytes", "pattern_bytes"]}
    assert found.unlike_the_driver == own.get((front_end, way), [])
    assert bool(found.seen["encode_calls"]) is ((front_end, way) not in own)


def test_the_watch_sees_what_the_driver_is_asked_and_is_gone_afterwards(hopper):
    cupy = pytest.importorskip("cupy")
    driver = pytest.importorskip("cuda.bindings.driver")
    from tmalab.hardware.driver_encode import Encoder

    tm = task_map(ADDRESS)
    kernel = cupy.RawKernel('extern "C" __global__ void k(long long a, int b) {}', "k")
    cupy.zeros(1)
    with watch_driver() as seen:
        answer, encoded = Encoder(driver).answer(tm)
        kernel((1,), (1,), (cupy.int64(0x1122334455667788), cupy.int32(7)))
    again = Encoder(driver).answer(tm)
    assert (answer, encoded) == again
    assert [call["global_dim"] for call in seen.encoded] == [[320, 192]]
    assert seen.encoded[0]["bytes"] == encoded
    assert seen.missed == []
    parameters = [launch for launch in seen.launched if len(launch) == 2]
    assert parameters == [[(0x1122334455667788).to_bytes(8, "little"), (7).to_bytes(4, "little")]]
