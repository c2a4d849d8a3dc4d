"""A worker's backend without a GPU: answers, or fails in the way that its parameters ask for. No test module."""

import json
import os
import re
import sys
import time

import numpy as np

from tmalab.errors import HardwareError, InputError, NoHopperGpuError

GPU = {
    "name": "FAKE H200", "compute_capability": "9.0", "driver": "580.0", "cuda": "13.0", "nvrtc": "13.0",
    "cupy": "14.2", "bindings": "13.0", "ordinal": 0,
}  # fmt: skip


class CudaFault(Exception):
    """As cuda_device.CudaFault; the worker knows it by its name."""

    def __init__(self, name):
        self.name = name
        super().__init__(name)


class FakeBackend:
    def describe(self):
        return GPU

    def run(self, probe, params):
        return getattr(self, probe)(**params)

    def echo(self, **params):
        arrays = {name: value for name, value in params.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in params.items() if name not in arrays}
        return {"error": None, "params": plain, "pid": os.getpid()}, arrays

    def fault(self, name):
        raise CudaFault(name)

    def hang(self, seconds):
        time.sleep(seconds)
        return {"error": None}, {}

    def die(self, code, words):
        print(words, file=sys.stderr, flush=True)
        os._exit(code)

    def bug(self):
        raise ZeroDivisionError("a bug of ours")

    def refuse(self, kind):
        if kind == "InputError":
            raise InputError("no good", field="coords", value=[1], fix="use another")
        raise HardwareError("not now", fix="try later")

    def noise(self):
        print("a library prints this")
        os.write(1, b"and another writes this\n")
        return {"error": None}, {}

    def garbage(self):
        import gc
        import io

        # What a broken library might do to the pipe itself.
        (pipe,) = [thing for thing in gc.get_objects() if isinstance(thing, io.BufferedWriter) and "w" in thing.mode
                   and thing.fileno() > 2]  # fmt: skip
        pipe.write(b"this is not a frame" * 10)
        pipe.flush()
        return {"error": None}, {}

    def big(self, count):
        return {"error": None}, {"bytes": np.arange(count, dtype=np.uint32)}

    def transfer(self, **params):
        """Loads what the model says; the odd base 64 faults, as the engine's does."""
        from tmalab import model
        from tmalab.experiment.memory import make_bytes
        from tmalab.model.tensor_map import TensorMap

        def content(spec):
            return spec if isinstance(spec, np.ndarray) else make_bytes(spec)

        if params["smem_base"] % 128:
            raise CudaFault("MISALIGNED_ADDRESS")
        tm = TensorMap.from_dict(params["tensor_map"])
        memory, smem, base = content(params["memory"]), content(params["smem"]), params["smem_base"]
        values = {"completed": True, "waited_ns": 1000, "error": None}
        if params["direction"] == "load":
            delivered = tm.transaction_bytes()
            values |= {"completed": delivered == params["expect_tx_bytes"], "delivered_bytes": delivered}
            loaded = model.load(tm, memory, params["coords"], smem_bytes=params["smem_bytes"], smem_base=base,
                                offsets=params["offsets"])  # fmt: skip
            if params["wait_ns"] == 1:  # a byte that no two runs agree on
                loaded[-1] = os.urandom(1)[0]
            return values, {"smem": loaded}
        if params["direction"] == "store":
            return values, {"memory": model.store(tm, smem, params["coords"], memory=memory, smem_base=base)}
        changed = model.reduce(tm, smem, params["coords"], params["op"], memory=memory, smem_base=base)
        return values, {"memory": changed}

    def add_one(self, variant, repeats):
        a = np.arange(256, dtype=np.float32).reshape(8, 32)
        return {"completed": True, "error": None}, {"a": a, "b": a + 1, "cycles": np.ones(repeats, np.int64)}

    def watch(self, text, name, deadline_ns, **rest):
        """All runs right, unless the source says otherwise: `// fault NAME`, or `// values {…}`."""
        from tmalab.hardware.kernel_file import parse_kernel_file

        if found := re.search(r"^// fault (\w+)", text, re.MULTILINE):
            raise CudaFault(found[1])
        runs = parse_kernel_file(text).runs
        values = {"completed": True, "error": None, "runs": runs, "right": runs, "wrong": 0, "stopped": 0,
                  "wrong_bytes": None, "stops": [], "alike": 0}  # fmt: skip
        found = re.search(r"^// values (.*)", text, re.MULTILINE)
        return {**values, **(json.loads(found[1]) if found else {})}, {}

    def encode(self, maps, addresses, context=True):
        """Takes what the model takes; the bytes are the address, sixteen times."""
        from tmalab.model.tensor_map import TensorMap

        if not context:
            nothing = {"accepted": np.zeros(len(maps), bool), "encoded": np.zeros((len(maps), 128), np.uint8)}
            return {"error": None, "answers": ["INVALID_CONTEXT"] * len(maps)}, nothing
        accepted = np.array([not TensorMap.from_dict(fields).violations() for fields in maps])
        encoded = np.array([np.full(16, address, np.uint64).view(np.uint8) for address in addresses])
        return {"error": None}, {"accepted": accepted, "encoded": encoded * accepted[:, None]}

    def parity(self, rule, pace, repeats):
        return {"completed": True, "error": None}, {"answers": np.zeros((repeats, 7, 12), np.int32)}

    def barrier_ops(self, launches, repeats):
        """Every list of steps arrives once too often."""
        raise CudaFault("LAUNCH_FAILED")


class NoGpuBackend:
    def __init__(self):
        raise NoHopperGpuError("it is made of cardboard", fix="buy one")


class CrashingBackend:
    def __init__(self):
        os._exit(7)
