"""Launches without the host in between: a graph of many, and the time of each of several graphs, in turn.

    Graph(device, enqueue, count) ─▶ `count` launches      interleaved(device, graphs, repeats) ─▶ ns[repeats, graphs]

What is compared runs turn and turn about, so that clocks and temperature are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tmalab.hardware.cuda_device import CudaDevice, CudaFault


class Graph:
    """`count` launches, captured once: `enqueue(number, stream)` puts one into the stream."""

    def __init__(self, device: CudaDevice, enqueue: Callable[[int, int], None], count: int):
        self.device, self.count = device, count
        driver, check = device.driver, device.check
        stream = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        check(driver.cuStreamBeginCapture(stream, mode))
        try:
            for number in range(count):
                enqueue(number, int(stream))
        finally:
            self._graph = check(driver.cuStreamEndCapture(stream))
        self._ready = check(driver.cuGraphInstantiate(self._graph, 0))
        check(driver.cuStreamDestroy(stream))

    def launch(self, stream: Any) -> None:
        """Into the stream; not waited for."""
        self.device.check(self.device.driver.cuGraphLaunch(self._ready, stream))

    def close(self) -> None:
        """Give it back."""
        self.device.check(self.device.driver.cuGraphExecDestroy(self._ready))
        self.device.check(self.device.driver.cuGraphDestroy(self._graph))


def interleaved(device: CudaDevice, graphs: Sequence[Graph], repeats: int, warm_up_ns: float = 0.0) -> np.ndarray:
    """Nanoseconds of one launch of each graph: float64[repeats, graphs]. Raises CudaFault where a kernel failed.

    Before it counts, all of them run in turn for `warm_up_ns`, so that the clocks are those of a GPU at work.
    """
    driver, check = device.driver, device.check
    stream = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    events = [check(driver.cuEventCreate(0)) for _ in range(len(graphs) + 1)]

    def once() -> list[float]:
        check(driver.cuEventRecord(events[0], stream))
        for graph, event in zip(graphs, events[1:], strict=True):
            graph.launch(stream)
            check(driver.cuEventRecord(event, stream))
        answer = driver.cuStreamSynchronize(stream)
        if int(answer[0]) != 0:
            raise CudaFault(getattr(answer[0], "name", str(answer[0])).removeprefix("CUDA_ERROR_"))
        between = zip(events, events[1:], graphs, strict=False)
        return [1e6 * check(driver.cuEventElapsedTime(begin, end)) / graph.count for begin, end, graph in between]

    warmed = 0.0
    while warmed <= warm_up_ns:
        warmed += sum(ns * graph.count for ns, graph in zip(once(), graphs, strict=True))
    seen = np.array([once() for _ in range(repeats)])
    for event in events:
        check(driver.cuEventDestroy(event))
    check(driver.cuStreamDestroy(stream))
    return seen
