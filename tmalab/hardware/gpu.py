"""`find_gpu`: the Hopper GPU of this machine, or the precise reason why none can be used.

    driver library → cuda-bindings → cuInit → driver new enough? → a device of 9.0? → NVRTC → CuPy of that CUDA

>>> from tmalab.errors import NoHopperGpuError
>>> try:
...     found = str(find_gpu())
... except NoHopperGpuError as error:
...     found = error.reason
>>> bool(found)
True

Nothing of CUDA is imported until `find_gpu` is called, and no context is made: that is the worker's (worker.py).
"""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass
from typing import Any

from tmalab.errors import NoHopperGpuError

HOPPER = (9, 0)
_INSTALL = "pip install 'tmalab[gpu]' (or 'tmalab[gpu12]' for a CUDA 12 driver)"
_NO_DEVICE = ("the NVIDIA driver is there, but it shows no GPU", "check nvidia-smi and CUDA_VISIBLE_DEVICES")
# What cuInit's commoner answers mean; any other is shown by its name.
_CUINIT_REASONS = {
    "CUDA_ERROR_NO_DEVICE": _NO_DEVICE,
    "CUDA_ERROR_STUB_LIBRARY": (
        "libcuda.so.1 is the toolkit's stub and no driver", "take the stubs folder off LD_LIBRARY_PATH",
    ),
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        "the driver's library and its kernel module are of different versions", "reboot, or reload the module",
    ),
    "CUDA_ERROR_SYSTEM_NOT_READY": ("the driver's system services are not ready", "start nvidia-fabricmanager"),
}  # fmt: skip


@dataclass(frozen=True)
class GpuInfo:
    """A usable Hopper GPU and what drives it. `driver` is the driver's own version, `cuda` the CUDA that it speaks."""

    name: str
    compute_capability: str
    driver: str
    cuda: str
    nvrtc: str
    cupy: str
    bindings: str
    ordinal: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.name} (sm_{self.compute_capability.replace('.', '')}), driver {self.driver}, CUDA {self.cuda}"


class System:
    """The questions that `find_gpu` asks of a machine, one a method, so that a test can answer them."""

    def driver_library(self) -> str | None:
        """None if NVIDIA's driver library loads, else what the loader said."""
        import ctypes

        try:
            ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        except OSError as error:
            return str(error)
        return None

    def bindings(self) -> Any:
        """The module `cuda.bindings.driver`. Raises ImportError."""
        from cuda.bindings import driver

        return driver

    def bindings_version(self) -> str:
        """Version of the package cuda-bindings."""
        return self.installed("cuda-bindings") or "unknown"

    def nvrtc_version(self) -> str:
        """Version of NVRTC, `13.0`. Raises whatever loading it raises."""
        from cuda.bindings import nvrtc

        _, major, minor = nvrtc.nvrtcVersion()
        return f"{major}.{minor}"

    def installed(self, distribution: str) -> str | None:
        """The version of an installed distribution, or None."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(distribution)
        except PackageNotFoundError:
            return None

    def driver_version(self) -> str:
        """The driver's own version, `580.159.04`, from NVML or the kernel module's file; `unknown` without either."""
        import ctypes
        from pathlib import Path

        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            text = ctypes.create_string_buffer(96)
            if nvml.nvmlInit_v2() == 0 and nvml.nvmlSystemGetDriverVersion(text, 96) == 0:
                return text.value.decode()
        except (OSError, AttributeError):
            pass
        try:
            banner = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
        except OSError:
            return "unknown"
        found = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", banner)
        return found[1] if found else "unknown"


def find_gpu(system: System | None = None) -> GpuInfo:
    """The first Hopper GPU (compute capability 9.0) that CUDA shows. Raises NoHopperGpuError, with the reason."""
    system = system or System()
    complaint = system.driver_library()
    if complaint is not None:
        raise NoHopperGpuError(
            f"no NVIDIA driver library ({complaint})", fix="install NVIDIA's driver, or read the recorded observations"
        )
    try:
        driver = system.bindings()
    except ImportError as error:
        raise NoHopperGpuError(f"the package cuda-bindings is missing ({error})", fix=_INSTALL) from None
    _initialise(driver)
    cuda = _checked_cuda_version(driver, system)
    ordinal, name = _hopper_device(driver)
    try:
        nvrtc = system.nvrtc_version()
    except Exception as error:  # not installed, not found, or the loader's own trouble: each says so in its words
        raise NoHopperGpuError(f"NVRTC cannot be loaded ({error})", fix=_INSTALL) from None
    return GpuInfo(
        name=name,
        compute_capability="{}.{}".format(*HOPPER),
        driver=system.driver_version(),
        cuda="{}.{}".format(*cuda),
        nvrtc=nvrtc,
        cupy=_checked_cupy(system, cuda[0]),
        bindings=system.bindings_version(),
        ordinal=ordinal,
    )


def _initialise(driver: Any) -> None:
    try:
        (result,) = driver.cuInit(0)
    except Exception as error:  # cuda-bindings finds the library by its own search, and says so in its own words
        raise NoHopperGpuError(f"cuda-bindings cannot load the driver ({error})", fix="check the driver") from None
    if int(result) == 0:
        return
    name = getattr(result, "name", str(result))
    reason, fix = _CUINIT_REASONS.get(name, (f"cuInit answered {name}", "check nvidia-smi and the driver's log"))
    raise NoHopperGpuError(reason, fix=fix)


def _checked_cuda_version(driver: Any, system: System) -> tuple[int, int]:
    """The driver's CUDA version; it must be of the bindings' major version at least, and 12.0, where TMA began."""
    result, number = driver.cuDriverGetVersion()
    cuda = (number // 1000, number % 1000 // 10)
    bindings = system.bindings_version()
    major = int(bindings.split(".")[0]) if bindings[:1].isdigit() else 12
    needed = max(12, major)
    if int(result) != 0 or cuda < (needed, 0):
        raise NoHopperGpuError(
            f"driver too old: {system.driver_version()} speaks CUDA {cuda[0]}.{cuda[1]}, and cuda-bindings {bindings} "
            f"needs CUDA {needed}.0",
            fix="update the driver" + (", or pip install 'tmalab[gpu12]'" if cuda[0] == 12 else ""),
        )
    return cuda


def _hopper_device(driver: Any) -> tuple[int, str]:
    """Ordinal and name of the first device of 9.0."""
    result, count = driver.cuDeviceGetCount()
    if int(result) != 0 or count == 0:
        raise NoHopperGpuError(_NO_DEVICE[0], fix=_NO_DEVICE[1])
    seen = []
    attribute = driver.CUdevice_attribute
    for ordinal in range(count):
        _, device = driver.cuDeviceGet(ordinal)
        _, raw_name = driver.cuDeviceGetName(96, device)
        _, major = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
        _, minor = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
        name = raw_name.split(b"\0")[0].decode(errors="replace")
        if (major, minor) == HOPPER:
            return ordinal, name
        seen.append(f"{name} is {major}.{minor}")
    raise NoHopperGpuError(
        f"no device of compute capability 9.0: {'; '.join(seen)}", fix="use an H100, H200, H800, H20 or GH200"
    )


def _checked_cupy(system: System, cuda_major: int) -> str:
    """CuPy's version, by what is installed: importing it takes most of a second. It must be built for this CUDA."""
    suffixed = {major: f"cupy-cuda{major}x" for major in (13, 12, 11)}
    found = {major: version for major, name in suffixed.items() if (version := system.installed(name))}
    if not found:
        version = system.installed("cupy")  # built from source: for the toolkit of this machine
        if version is None:
            raise NoHopperGpuError("the package CuPy is missing", fix=_INSTALL)
        return version
    bindings = system.bindings_version().split(".")[0]
    major = next(iter(found))
    if major > cuda_major or (bindings.isdigit() and int(bindings) != major):
        wanted = min(cuda_major, int(bindings)) if bindings.isdigit() else cuda_major
        raise NoHopperGpuError(
            f"CuPy is built for another CUDA: {suffixed[major]} is installed, the driver speaks CUDA {cuda_major} and "
            f"cuda-bindings is {system.bindings_version()}",
            fix=f"pip uninstall {suffixed[major]} and pip install cupy-cuda{wanted}x",
        )
    return found[major]
