"""Every reason for which there is no Hopper GPU, each told by a machine that is made up for it."""

from enum import IntEnum
from types import SimpleNamespace

import pytest

from tmalab.errors import NoHopperGpuError
from tmalab.hardware.gpu import System, find_gpu

Result = IntEnum(
    "Result",
    {"CUDA_SUCCESS": 0, "CUDA_ERROR_NO_DEVICE": 100, "CUDA_ERROR_STUB_LIBRARY": 34, "CUDA_ERROR_UNKNOWN": 999}
    | {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": 803},
)


class FakeDriver:
    """cuda.bindings.driver as far as find_gpu asks it."""

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=76
    )

    def __init__(self, init=Result.CUDA_SUCCESS, version=13000, devices=(("NVIDIA H200", 9, 0),)):
        self.init, self.version, self.devices = init, version, devices

    def cuInit(self, flags):
        if isinstance(self.init, Exception):
            raise self.init
        return (self.init,)

    def cuDriverGetVersion(self):
        return Result.CUDA_SUCCESS, self.version

    def cuDeviceGetCount(self):
        return Result.CUDA_SUCCESS, len(self.devices)

    def cuDeviceGet(self, ordinal):
        return Result.CUDA_SUCCESS, ordinal

    def cuDeviceGetName(self, length, device):
        return Result.CUDA_SUCCESS, self.devices[device][0].encode().ljust(length, b"\0")

    def cuDeviceGetAttribute(self, attribute, device):
        return Result.CUDA_SUCCESS, self.devices[device][attribute - 74]


class FakeSystem(System):
    """A machine on which everything is right, but for what a test changes."""

    def __init__(self, driver=None, complaint=None, packages=None, nvrtc="13.0"):
        self.driver, self.complaint, self.nvrtc = driver or FakeDriver(), complaint, nvrtc
        self.packages = {"cuda-bindings": "13.0.1", "cupy-cuda13x": "14.2.0", **(packages or {})}

    def driver_library(self):
        return self.complaint

    def bindings(self):
        if self.packages["cuda-bindings"] is None:
            raise ImportError("No module named 'cuda'")
        return self.driver

    def installed(self, distribution):
        return self.packages.get(distribution)

    def nvrtc_version(self):
        if isinstance(self.nvrtc, Exception):
            raise self.nvrtc
        return self.nvrtc

    def driver_version(self):
        return "580.159.04"


def test_a_machine_with_an_h200():
    gpu = find_gpu(FakeSystem())
    assert str(gpu) == "NVIDIA H200 (sm_90), driver 580.159.04, CUDA 13.0"
    assert (gpu.nvrtc, gpu.cupy, gpu.bindings, gpu.ordinal) == ("13.0", "14.2.0", "13.0.1", 0)


def test_the_first_hopper_among_others_is_taken():
    devices = (("NVIDIA A100", 8, 0), ("NVIDIA H100", 9, 0), ("NVIDIA H200", 9, 0))
    gpu = find_gpu(FakeSystem(FakeDriver(devices=devices)))
    assert (gpu.name, gpu.ordinal) == ("NVIDIA H100", 1)


OLD_CUPY = {"cupy-cuda13x": None, "cupy-cuda12x": "13.6.0"}
REASONS = {
    "no library": (
        FakeSystem(complaint="libcuda.so.1: cannot open shared object file"),
        "no NVIDIA driver library (libcuda.so.1: cannot open shared object file)",
        "driver",
    ),
    "no bindings": (FakeSystem(packages={"cuda-bindings": None}), "cuda-bindings is missing", "tmalab[gpu]"),
    "bindings find no driver": (FakeSystem(FakeDriver(RuntimeError("dlopen"))), "cannot load the driver (dlopen)", ""),
    "no device": (FakeSystem(FakeDriver(Result.CUDA_ERROR_NO_DEVICE)), "it shows no GPU", "CUDA_VISIBLE_DEVICES"),
    "zero devices": (FakeSystem(FakeDriver(devices=())), "it shows no GPU", "CUDA_VISIBLE_DEVICES"),
    "stub": (FakeSystem(FakeDriver(Result.CUDA_ERROR_STUB_LIBRARY)), "stub", "LD_LIBRARY_PATH"),
    "mismatch": (FakeSystem(FakeDriver(Result.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)), "different versions", "reboot"),
    "another answer": (FakeSystem(FakeDriver(Result.CUDA_ERROR_UNKNOWN)), "cuInit answered CUDA_ERROR_UNKNOWN", ""),
    "not Hopper": (
        FakeSystem(FakeDriver(devices=(("NVIDIA A100", 8, 0), ("NVIDIA B200", 10, 0)))),
        "no device of compute capability 9.0: NVIDIA A100 is 8.0; NVIDIA B200 is 10.0",
        "H100",
    ),
    "CUDA 12 driver, CUDA 13 bindings": (
        FakeSystem(FakeDriver(version=12040)),
        "driver too old: 580.159.04 speaks CUDA 12.4, and cuda-bindings 13.0.1 needs CUDA 13.0",
        "tmalab[gpu12]",
    ),
    "CUDA 11 driver": (
        FakeSystem(FakeDriver(version=11080), packages={"cuda-bindings": "12.9.0"}),
        "needs CUDA 12.0",
        "update the driver",
    ),
    "no NVRTC": (FakeSystem(nvrtc=RuntimeError("libnvrtc.so.13")), "NVRTC cannot be loaded (libnvrtc.so.13)", "gpu"),
    "no CuPy": (FakeSystem(packages={"cupy-cuda13x": None}), "CuPy is missing", "tmalab[gpu]"),
    "CuPy for CUDA 12": (
        FakeSystem(packages=OLD_CUPY),
        "CuPy is built for another CUDA: cupy-cuda12x is installed, the driver speaks CUDA 13 and cuda-bindings is",
        "pip install cupy-cuda13x",
    ),
    "CuPy for CUDA 13 on CUDA 12": (
        FakeSystem(FakeDriver(version=12080), packages={"cuda-bindings": "12.9.0"}),
        "cupy-cuda13x is installed, the driver speaks CUDA 12",
        "pip install cupy-cuda12x",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_each_reason_is_named_and_has_a_remedy(name):
    system, reason, fix = REASONS[name]
    with pytest.raises(NoHopperGpuError) as raised:
        find_gpu(system)
    assert reason in raised.value.reason
    assert raised.value.fix
    assert fix in raised.value.fix


def test_cuda_12_throughout_is_fine():
    packages = {"cuda-bindings": "12.9.0", **OLD_CUPY}
    assert find_gpu(FakeSystem(FakeDriver(version=12080), packages=packages)).cupy == "13.6.0"


def test_cupy_built_from_source_is_taken_as_it_is():
    assert find_gpu(FakeSystem(packages={"cupy-cuda13x": None, "cupy": "14.2.0"})).cupy == "14.2.0"


def test_this_machine_gives_a_gpu_or_a_reason():
    try:
        assert find_gpu().compute_capability == "9.0"
    except NoHopperGpuError as error:
        assert error.reason  # noqa: PT017  (either end is right here)


@pytest.mark.gpu
def test_the_real_machine_knows_its_versions(hopper):
    assert hopper.driver.count(".") >= 1
    assert hopper.nvrtc.split(".")[0] in ("12", "13")
    assert "H" in hopper.name
