"""A case in words: the tensor map as the Python that builds it and the copy through it, a warp's addresses, or steps.

>>> from tmalab.experiment.facts import fact
>>> print(case_text(fact("null-base").trials[0].case))
TensorMap.tiled("float32", (4,), (), (4,), address=0x0)
load at (0,); memory fill 0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.experiment.case import Case
from tmalab.experiment.encode_cases import ADDRESS
from tmalab.experiment.facts.steps import steps_text
from tmalab.experiment.gemm_plan import rung

_LISTS = {
    "tiled": ("global_dim", "global_strides", "box_dim"),
    "im2col": ("global_dim", "global_strides", "lower_corner", "upper_corner"),
}
_WORDS = {"interleave": "none", "swizzle": "none", "l2_promotion": "none", "oob_fill": "none"}


def map_text(fields: Mapping[str, Any]) -> str:
    """The call that builds the map of `TensorMap.to_dict`; what is usual in it is left out."""
    given = [f'"{fields["dtype"]}"', *(str(tuple(fields[name])) for name in _LISTS[fields["kind"]])]
    if fields["kind"] == "im2col":
        given += [str(fields["channels_per_pixel"]), str(fields["pixels_per_column"])]
    if set(fields["element_strides"]) - {1}:
        given.append(f"element_strides={tuple(fields['element_strides'])}")
    given += [f'{name}="{fields[name]}"' for name, usual in _WORDS.items() if fields[name] != usual]
    if fields.get("address") not in (None, ADDRESS):
        given.append(f"address={fields['address']:#x}")
    return f"TensorMap.{fields['kind']}({', '.join(given)})"


def case_text(case: Case) -> str:
    """One line for the map and one for what was done with it; of a warp's access and of a program one line."""
    params = case.params
    if "program" in params:
        given = [f"{name}={value!r}" for name, value in params.items() if name not in ("program", "versions")]
        return f"{case.probe}_{params['program']}.py: run({', '.join(given)})"
    if case.probe in ("pipeline", "pipeline_costs", "tma_copy"):
        given = [f"{name}={value!r}" for name, value in params.items() if name not in ("versions", "paces", "kept")]
        return f"{case.probe}.cu: {', '.join(given)}"
    if case.probe == "gemm":
        given = [f"{name}={value!r}" for name, value in params.items() if name != "rung"]
        return f"gemm/{rung(params['rung']).file}.cu: {', '.join(given)}"
    if case.probe == "barrier_ops":
        return "\n".join(steps_text(steps) for steps in params["launches"])
    if case.probe == "banks":
        return "\n".join(_pattern_text(pattern) for pattern in params["patterns"])
    done = _copy_text(params) if case.probe == "transfer" else "encode" + _context_text(params)
    return f"{map_text(params['tensor_map'])}\n{done}"


def _pattern_text(pattern: Mapping[str, Any]) -> str:
    lanes = " ".join("-" if address is None else str(address) for address in pattern["addresses"])
    return f"{pattern['op']} of {pattern['width_bytes']} bytes at {lanes}"


def _context_text(params: Mapping[str, Any]) -> str:
    return "" if params.get("context", True) else ", no context current"


def _copy_text(params: Mapping[str, Any]) -> str:
    copy = " ".join(filter(None, [params["direction"], params["op"], f"at {tuple(params['coords'])}"]))
    if params["offsets"]:
        copy += f", offsets {tuple(params['offsets'])}"
    if params["smem_base"]:
        copy += f", shared byte {params['smem_base']}"
    if "expect_tx_bytes" in params:
        copy += f", armed for {params['expect_tx_bytes']} bytes"
    if "descriptor_space" in params or "descriptor_align" in params:
        copy += f", descriptor in {params.get('descriptor_space', 'param')} memory"
        copy += f" at {params['descriptor_align']}" if "descriptor_align" in params else ""
    start = f" from byte {params['address_offset']}" if "address_offset" in params else ""
    given = [f"memory {_spec_text(params['memory'])}{start}"]
    if params["direction"] != "load":
        given.append(f"shared memory {_spec_text(params['smem'])}")
    return f"{copy}; {', '.join(given)}"


def _spec_text(spec: Mapping[str, Any]) -> str:
    return f"fill {spec['value']}" if spec["pattern"] == "fill" else str(spec["pattern"])
