"""The version boundary, in whichever of the two is installed: `make test-frontends` has an environment each."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tmalab.frontends.cute_versions import ANSWERS
from tmalab.frontends.front_end import front_end
from tmalab.frontends.program import PROGRAMS

VERSION = front_end("cute").version()


def test_both_versions_give_two_results_and_one_gives_more():
    old, new = ANSWERS["4.2.1"], ANSWERS["4.8.1"]
    assert (old["returns"], new["returns"]) == ("tuple", "TmaInfo")
    assert old["length"] == new["length"] == 2
    assert (old["attributes"], new["attributes"]) == ([], ["atom", "tma_tensor", "smem_layout"])
    same = ("local_tile", "tma_partition")
    assert [old[name] for name in same] == [new[name] for name in same]
    assert old["warned"] == []
    assert "use cutlass.memory.SmemAllocator" in new["warned"][0]


@pytest.mark.skipif(VERSION not in ANSWERS, reason=f"needs CuTe DSL {' or '.join(ANSWERS)}: make test-frontends")
def test_the_installed_version_answers_as_written():
    program = PROGRAMS / "cute_versions.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == ANSWERS[VERSION]
