"""What two versions of CuTe DSL answered to the same program, programs/cute_versions.py; no GPU is asked for it.

    4.2.1   make_tiled_tma_atom → tuple      4.8.1   → TmaInfo, which still unpacks to two

>>> [answer["returns"] for answer in ANSWERS.values()]
['tuple', 'TmaInfo']

A test holds both answers to the program, each in an environment of its version.
"""

from __future__ import annotations

from typing import Any

_TILE = {
    "local_tile": "tensor<(512,64) o (64,256):(1@1,1@0)>",
    "tma_partition": "tensor<(512,64) o (((256,64),1)):(((1@0,1@1),0))>",
}
ANSWERS: dict[str, dict[str, Any]] = {
    "4.2.1": {
        "version": "4.2.1", "returns": "tuple", "length": 2, "attributes": [], "cutlass.memory": False, "warned": [],
        **_TILE,
    },
    "4.8.1": {
        "version": "4.8.1", "returns": "TmaInfo", "length": 2, "attributes": ["atom", "tma_tensor", "smem_layout"],
        "cutlass.memory": True, "warned": [
            "cutlass.utils.smem_allocator.SmemAllocator is deprecated; use cutlass.memory.SmemAllocator instead. "
            "It will be removed in a future release."
        ],
        **_TILE,
    },
}  # fmt: skip
