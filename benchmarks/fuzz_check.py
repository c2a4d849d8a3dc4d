"""Throw 100,000 random texts and JSON values at the checker: no exception, no slow answer, little memory.

    python benchmarks/fuzz_check.py [--count 100000] [--seed 1]

Half are mutations of readable inputs of every form, since random text alone never gets past the first character;
the rest are random JSON values, random text, and a list of monsters (10 MB, a rank of a million, a million digits).
Exits 1 with the input's beginning where a limit is passed.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

from tmalab.checker import check_json, check_text
from tmalab.cli import report

SLOWEST_S, MOST_MB = 1.0, 300
DUMP = """TMA Desc Addr:   0x7ffd7d2800c0
format         6
dim            3
gmem_address   0x7f1400000000
globalDim      (1024,1024,1,1,1)
globalStrides  (2,2048,2097152,0,0)
boxDim         (64,128,1,1,1)
elementStrides (1,1,1,1,1)
interleave     0
swizzle        3
l2Promotion    0
oobFill        0
Error: Failed to initialize the TMA descriptor 1
"""
CALL = """constexpr int N = 4096; using T = __half;
cuuint64_t dims[2] = {N, 1024}; cuuint64_t strides[] = {2, N * sizeof(T)};
cuuint32_t box[] = {64, 1 << 6}, ones[2] = {1, 1};
cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void*)0x7f00, dims, strides + 1, box, ones,
    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, (CUtensorMapL2promotion)2, static_cast<int>(0));
"""
MAP = {
    "dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8], "swizzle": "128B",
    "element_strides": [1, 1], "interleave": "none", "oob_fill": "none", "address": 4096, "coords": [0, 0],
    "direction": "load", "smem_base": 128, "storage_bytes": 4096, "expect_tx_bytes": 1024, "live_rows": 3,
}  # fmt: skip
CONV = {
    "kind": "im2col", "dtype": "float16", "global_dim": [64, 8, 8, 1], "global_strides": [128, 1024, 8192],
    "lower_corner": [0, 0], "upper_corner": [-2, -2], "channels_per_pixel": 64, "pixels_per_column": 36,
    "conv": {"kernel": [3, 3], "padding": 0}, "offsets": [0, 1], "coords": [0, 0, 0, 0],
}  # fmt: skip
OBJECTS: list[dict[str, Any]] = [
    MAP, CONV, {"mode": "tiled_set", "variants": [MAP, CONV]},
    {"mode": "dlpack", "dtype": "float32", "shape": ["L", 64], "strides_elements": [64, 1], "box_shape": [8, 32]},
    {"mode": "launch_operand", "dtype": "int32", "coords_inner": [-4, 1], "box_dim": [16, 8], "smem_offset": 640,
     "swizzle": "128B", "reader": "tile_relative_index", "slot_offsets": [0, 64], "smem_align": 16},
    {"mode": "launch_operand", "swizzles": ["32B"], "location": "global", "tensormap_address": 64},
    {"mode": "layout_query", "dtype": "float16", "tile": [16, 64], "swizzle": "128B", "element": [1, 0]},
    {"mode": "layout_query", "layout": "Sw<3,4,3> o 0 o (8,64):(64,1)"},
    {"mode": "descriptor_location", "location": "global"}, {"mode": "tile_partition", "cta_n": 192, "warp_n": 96},
]  # fmt: skip
TEXTS = [
    DUMP, CALL, "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_16),(_64,_3)):((_64,_512),(_1,_8192))",
    "Layout<Shape<_8,_64>,Stride<_64,_1>>", "16,128:128,1:float16", "L,128:256B,2B:bf16",
    "tmalab check --dtype float16 --global-dim 128,16 --global-strides 256 --box-dim 64,8 --coords -8,0",
    "--array 16,128:128,1:float16 --box 8,64 --swizzle 128B", DUMP.replace("(", "[").replace(")", "]"),
]  # fmt: skip
NUMBERS = [0, 1, -1, 2**31, 2**32, 2**63, -(2**63), 2**64, 10**30, 10**4000, 0.5, 1e308]
WORDS = [
    "",
    "none",
    "128B",
    "nan",
    "float16",
    "reduce",
    "add",
    "é\ud800",
    "Sw<",
    "{",
    "}}",
    "[[",
    "0x",
    "\\n",
    "//",
    "/*",
    '"',
]
# Each repeated to 10 MB.
UNITS = [
    "[", "{", '{"a":', "[1],", "{},", '{"a":1},', "0", "0,", '"', '\\"', "a", " ", "\n", "(", "Sw<", "--a ", ":",
    "é", "😀", "8,", "((", "\ufeff", "1:", "TMA Desc Addr: 0\n", "dim 1\n", "/*", "//", "x=", "x[",
    "cuTensorMapEncodeTiled(", "cuTensorMapEncodeTiled(a=",
]  # fmt: skip


def json_value(rng: random.Random, depth: int = 0) -> Any:
    """A random JSON value, numbers mostly from the edges."""
    kind = rng.randrange(8 if depth < 4 else 5)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 5:
        return rng.choice([None, True, rng.choice(WORDS), rng.randrange(-300, 300)])
    if kind < 7:
        return [json_value(rng, depth + 1) for _ in range(rng.randrange(6))]
    names = [*MAP, *CONV, "mode", "variants", "shape", "tile", "x"]
    return {rng.choice(names): json_value(rng, depth + 1) for _ in range(rng.randrange(6))}


def mutated_object(rng: random.Random) -> str:
    """A readable object with a few of its values replaced, removed or renamed."""
    made = json.loads(json.dumps(rng.choice(OBJECTS)))
    for _ in range(rng.randrange(4)):
        key = rng.choice(list(made)) if made else "x"
        if (change := rng.randrange(8)) == 0:
            made.pop(key, None)
        elif change == 1:
            made[rng.choice([*MAP, *CONV, "mode", key + "x"])] = made.pop(key, None)
        elif change < 6 and isinstance(made.get(key), list) and made[key]:
            made[key][rng.randrange(len(made[key]))] = rng.choice([*NUMBERS[:9], rng.randrange(300)])
        elif isinstance(made.get(key), int):
            made[key] = rng.choice([*NUMBERS, rng.randrange(-300, 300)])
        else:
            made[key] = json_value(rng, 2)
    return json.dumps(made)


def mutated_text(rng: random.Random, text: str) -> str:
    """`text` with pieces cut out, doubled or put in."""
    for _ in range(rng.randrange(1, 5)):
        at, length = rng.randrange(len(text) + 1), rng.randrange(12)
        piece = rng.choice([
            "", rng.choice(WORDS), str(rng.choice(NUMBERS)), text[at : at + length] * 2, chr(rng.randrange(0xD800)),
            "\n", "(", ",", " ",
        ])  # fmt: skip
        text = text[:at] + piece + text[at + length :]
    return text


def monsters() -> Iterator[str]:
    """Inputs that are too large or too deep in every way that we could think of."""
    million = 10**6
    ones = json.dumps([1] * million)
    strides = json.dumps([16] * (million - 1))
    yield f'{{"dtype":"float16","global_dim":{ones},"global_strides":{strides},"box_dim":{ones}}}'
    yield '{"dtype":"float16","global_dim":[' + "9" * million + '],"box_dim":[64]}'
    yield '{"dtype":"float16","global_dim":[' + "-" + "9" * 4000 + '],"box_dim":[64]}'
    for unit in UNITS:
        yield unit * (10 * million // len(unit.encode()))
        yield "[" + unit * (10 * million // len(unit.encode()))
    yield '{"global_dim":[' + "[1]," * (2 * million) + "1]}"
    yield '[{"global_dim":' + '{"a":1},' * million + "}]"
    yield '{"dtype":"' + "f" * (10 * million) + '"}'
    yield '{"' + "k" * (10 * million) + '": 1}'
    yield "(" * million + "8" + ")" * million + ":1"
    yield "Sw<3,4,3> o 0 o " + "(8," * million
    yield ",".join(["8"] * million) + ":" + ",".join(["1"] * million) + ":float16"
    yield "--global-dim " + "8," * (3 * million)
    yield CALL.replace("N, 1024", "+".join(["N"] * million))
    yield CALL.replace("1 << 6", "1 << 99999999999")
    yield "(" * 30_000 + CALL
    yield "a[" * 15_000 + CALL
    yield "a=" * 15_000 + CALL
    yield DUMP * 20_000
    yield "\n".join([json.dumps(MAP)] * 2_000 + ["{broken"] * 500_000)
    yield "\n".join(['{"x": 1}'] * million)


def inputs(count: int, rng: random.Random) -> Iterator[str]:
    """Monsters first, then the random ones."""
    yield from monsters()
    for index in range(count):
        kind = index % 4
        if kind == 0:
            yield json.dumps(json_value(rng))
        elif kind == 1:
            yield mutated_object(rng)
        elif kind == 2:
            yield mutated_text(rng, rng.choice([*TEXTS, json.dumps(rng.choice(OBJECTS))]))
        else:
            marks = (32, 10, 123, 91, 40, 58, 44, 34)
            yield "".join(chr(rng.choice((*marks, rng.randrange(0x3000)))) for _ in range(rng.randrange(200)))


def main() -> int:
    """Run, print the worst, and return 1 where a limit was passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    slowest, which, verdicts, failed = 0.0, "", dict[str, int](), 0
    start = time.perf_counter()
    for number, text in enumerate(inputs(arguments.count, random.Random(arguments.seed))):
        began = time.process_time()  # a busy machine is no fault of the checker
        try:
            answer = check_text(text)
        except Exception as error:
            failed += 1
            print(f"{type(error).__name__}: {error}"[:300], repr(text[:300]))
            continue
        took = (time.process_time() - began) / max(len(answer.parts), 1)  # a batch gives an answer to each entry
        verdicts[answer.verdict] = verdicts.get(answer.verdict, 0) + 1
        if number % 10 == 0 and len(text) < 100_000:  # what is printed and sent must stand it too
            try:
                report.plain(answer).encode("utf-8", "backslashreplace")
                report.line(answer)
                json.loads(check_json(text))
            except Exception as error:
                failed += 1
                print(f"in the report, {type(error).__name__}: {error}"[:300], repr(text[:300]))
        if took > slowest:
            slowest, which = took, f"{len(text)} characters: {text[:60]!r}"
        if took > SLOWEST_S:
            failed += 1
            print(f"slow: {took:.2f} s for {len(text)} characters: {text[:80]!r}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{sum(verdicts.values())} answers in {time.perf_counter() - start:.0f} s: {verdicts}")
    print(f"slowest {slowest:.3f} s ({which}); memory {memory} MB; {failed} failed")
    return 1 if failed or memory > MOST_MB else 0


if __name__ == "__main__":
    sys.exit(main())
