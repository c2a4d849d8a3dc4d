"""The events of a pipeline: a producer that fills a ring of stages, and consumers that read each of them.

    producer   wait empty[s] ─ arm full[s] ─ load s          consumer   wait full[s] ─ read s ─ arrive empty[s]
               parity 1, 0, 1 …                                         parity 0, 1, 0 …        s = turn % num_stages

>>> from tmalab.model.barrier_program import BarrierProgram
>>> BarrierProgram(pipeline_events(num_stages=2, consumers=2, iterations=5)).run().verdict
'completes'

A fault is made by changing the list, or by leaving one event out.
"""

from __future__ import annotations

from typing import Any

from tmalab.errors import InputError


def pipeline_events(
    *, num_stages: int = 3, consumers: int = 2, iterations: int = 20, tx_bytes: int = 4096, loads: int = 1
) -> list[dict[str, Any]]:
    """The events of `iterations` turns; each turn's `tx_bytes` come by `loads` copies of equal size.

    Agents are `producer` and `consumer0` …, barriers `full0` and `empty0` …, buffers `s0` … (`s0.0` where a stage takes
    several copies). Raises InputError for a number below 1, or bytes that the copies cannot share.
    """
    said = {"num_stages": num_stages, "consumers": consumers, "iterations": iterations, "loads": loads}
    for field, value in said.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError("not a positive integer", field=field, value=value, limit=1, fix="give 1 or more")
    if isinstance(tx_bytes, bool) or not isinstance(tx_bytes, int) or tx_bytes < 0 or tx_bytes % loads:
        fix = f"give a multiple of {loads}"
        raise InputError("bytes that the copies cannot share", field="tx_bytes", value=tx_bytes, limit=loads, fix=fix)
    events: list[dict[str, Any]] = []
    for stage in range(num_stages):
        events.append({"t": "init", "op": "init", "bar": f"full{stage}", "count": 1})
        events.append({"t": "init", "op": "init", "bar": f"empty{stage}", "count": consumers})
    for turn in range(iterations):
        stage, use = turn % num_stages, turn // num_stages
        full, empty = f"full{stage}", f"empty{stage}"
        parts = [f"s{stage}"] if loads == 1 else [f"s{stage}.{part}" for part in range(loads)]
        events.append({"t": "producer", "op": "wait", "bar": empty, "parity": (use + 1) % 2})
        events.append({"t": "producer", "op": "arrive_expect_tx", "bar": full, "bytes": tx_bytes})
        load = {"t": "producer", "op": "tma_load", "bar": full, "bytes": tx_bytes // loads}
        events += [{**load, "buf": part} for part in parts]
        for consumer in range(consumers):
            agent = f"consumer{consumer}"
            events.append({"t": agent, "op": "wait", "bar": full, "parity": use % 2})
            events += [{"t": agent, "op": "ld_shared", "buf": part} for part in parts]
            events.append({"t": agent, "op": "arrive", "bar": empty})
    return events
