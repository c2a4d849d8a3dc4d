"""What the worker runs when there is a GPU: every probe by its name, on one device.

    "transfer" → TransferProbe        "add_one" → AddOneProbe        "encode" → EncodeProbe

A new probe is a kernel, a class with `run(params)`, and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from tmalab.errors import InputError
from tmalab.hardware.add_one_probe import AddOneProbe
from tmalab.hardware.banks_probe import BanksProbe
from tmalab.hardware.barrier_ops_probe import BarrierOpsProbe
from tmalab.hardware.cuda_device import CudaDevice
from tmalab.hardware.driver_encode import EncodeProbe
from tmalab.hardware.gemm_probe import GemmProbe
from tmalab.hardware.landing_probe import LandingProbe
from tmalab.hardware.ordering_probe import OrderingProbe
from tmalab.hardware.parity_probe import ParityProbe
from tmalab.hardware.pipeline_costs_probe import PipelineCostsProbe
from tmalab.hardware.pipeline_probe import PipelineProbe
from tmalab.hardware.reuse_probe import ReuseProbe
from tmalab.hardware.timed_launch import ClocksProbe
from tmalab.hardware.tma_copy_probe import TmaCopyProbe
from tmalab.hardware.transfer_probe import TransferProbe
from tmalab.hardware.two_loads_probe import TwoLoadsProbe
from tmalab.hardware.watch_probe import WatchProbe
from tmalab.hardware.wgmma_probe import WgmmaProbe


class Probe(Protocol):
    """Runs one experiment from its parameters."""

    def run(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays."""


PROBES: dict[str, Callable[[CudaDevice], Probe]] = {
    "transfer": TransferProbe,
    "add_one": AddOneProbe,
    "banks": BanksProbe,
    "encode": lambda device: EncodeProbe(device.encoder),
    "wgmma": WgmmaProbe,
    "watch": WatchProbe,
    "clocks": ClocksProbe,
    "two_loads": TwoLoadsProbe,
    "landing": LandingProbe,
    "parity": ParityProbe,
    "reuse": ReuseProbe,
    "ordering": OrderingProbe,
    "barrier_ops": BarrierOpsProbe,
    "pipeline": PipelineProbe,
    "pipeline_costs": PipelineCostsProbe,
    "tma_copy": TmaCopyProbe,
    "gemm": GemmProbe,
}


class CudaBackend:
    """The device and the probes that have been asked for so far."""

    def __init__(self) -> None:
        self.device = CudaDevice()
        self._probes: dict[str, Probe] = {}

    def describe(self) -> dict[str, Any]:
        """The GPU, as GpuInfo.to_dict gives it."""
        return self.device.info.to_dict()

    def run(self, probe: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays of one experiment."""
        if probe not in PROBES:
            raise InputError("unknown probe", field="probe", value=probe, fix=f"use one of {', '.join(PROBES)}")
        if probe not in self._probes:
            self._probes[probe] = PROBES[probe](self.device)
        return self._probes[probe].run(params)
