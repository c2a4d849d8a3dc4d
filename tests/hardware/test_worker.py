"""The worker is what a fault costs: whatever it does, the question is answered in time and the next one works."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tmalab.errors import HardwareError, InputError, NoHopperGpuError

# Generous: two cores that others share. What is asserted is that nothing waits for a deadline of its own.
QUICK_S = 30.0


def ask(worker, probe, *items, deadline_s=QUICK_S, arrays=None):
    return list(worker.ask(probe, items, deadline_s=deadline_s, arrays=arrays))


def works(worker):
    (reply,) = ask(worker, "echo", {"x": 1})
    return reply.values["params"] == {"x": 1}


def test_items_are_answered_in_order_by_one_process(fake_worker):
    replies = ask(fake_worker(), "echo", *({"x": x} for x in range(20)))
    assert [reply.values["params"]["x"] for reply in replies] == list(range(20))
    assert len({reply.values["pid"] for reply in replies}) == 1
    assert replies[0].values["pid"] != os.getpid()


def test_the_process_stays_between_questions(fake_worker):
    worker = fake_worker()
    first, second = ask(worker, "echo", {}), ask(worker, "echo", {})
    assert first[0].values["pid"] == second[0].values["pid"]


def test_arrays_go_there_and_back(fake_worker):
    memory = np.arange(300_000, dtype=np.uint8)  # more than a pipe holds
    (reply,) = ask(fake_worker(), "echo", {"memory": {"pattern": "given"}}, arrays={"memory": memory})
    np.testing.assert_array_equal(reply.arrays["memory"], memory)


def test_a_large_answer_arrives_whole(fake_worker):
    (reply,) = ask(fake_worker(), "big", {"count": 3_000_000})
    np.testing.assert_array_equal(reply.arrays["bytes"], np.arange(3_000_000, dtype=np.uint32))


def test_it_names_its_gpu(fake_worker):
    assert fake_worker().gpu().name == "FAKE H200"


def test_a_fault_costs_the_worker_and_nothing_else(fake_worker):
    worker = fake_worker()
    (before,) = ask(worker, "echo", {})
    (reply,) = ask(worker, "fault", {"name": "ILLEGAL_INSTRUCTION"})
    assert reply.fault
    assert reply.values == {"completed": False, "error": "ILLEGAL_INSTRUCTION"}
    (after,) = ask(worker, "echo", {})
    assert before.values["pid"] != after.values["pid"]


def test_the_items_after_a_fault_run_in_the_next_process(fake_worker):
    items = [{"name": "MISALIGNED_ADDRESS"}, {"name": "ILLEGAL_ADDRESS"}, {"name": "ILLEGAL_INSTRUCTION"}]
    replies = ask(fake_worker(), "fault", *items)
    assert [reply.values["error"] for reply in replies] == [item["name"] for item in items]


def test_a_stuck_worker_is_stopped_at_the_deadline(fake_worker):
    worker = fake_worker()
    assert works(worker)
    start = time.monotonic()
    (reply,) = ask(worker, "hang", {"seconds": 3600}, deadline_s=0.3)
    assert time.monotonic() - start < QUICK_S
    assert (reply.values["error"], reply.fault) == ("TIMEOUT", True)
    assert works(worker)


def test_a_worker_that_dies_leaves_its_last_words(fake_worker):
    worker = fake_worker()
    (reply,) = ask(worker, "die", {"code": 5, "words": "out of luck"})
    assert reply.values["error"] == "WORKER_DIED"
    assert "exit code 5" in reply.values["detail"]
    assert "out of luck" in reply.values["detail"]
    assert works(worker)


def test_a_bug_in_a_probe_is_told_with_its_traceback(fake_worker):
    (reply,) = ask(fake_worker(), "bug", {})
    assert "ZeroDivisionError: a bug of ours" in reply.values["detail"]


def test_garbage_on_the_pipe_ends_the_worker(fake_worker):
    worker = fake_worker()
    assert works(worker)
    (reply,) = ask(worker, "garbage", {})
    assert reply.values["error"] == "WORKER_DIED"
    assert "not a frame" in reply.values["detail"]
    assert works(worker)


def test_what_libraries_print_never_reaches_the_pipe(fake_worker):
    worker = fake_worker()
    (reply,) = ask(worker, "noise", {})
    assert reply.values == {"error": None}
    assert works(worker)


@pytest.mark.parametrize(("kind", "raised"), [("InputError", InputError), ("HardwareError", HardwareError)])
def test_errors_of_ours_come_back_as_themselves_and_cost_nothing(fake_worker, kind, raised):
    worker = fake_worker()
    (before,) = ask(worker, "echo", {})
    (reply,) = ask(worker, "refuse", {"kind": kind})
    with pytest.raises(raised, match="no good" if kind == "InputError" else "not now") as error:
        reply.or_raise()
    assert error.value.fix
    (after,) = ask(worker, "echo", {})
    assert before.values["pid"] == after.values["pid"]


def test_no_gpu_is_said_with_its_reason_every_time(fake_worker):
    worker = fake_worker("NoGpuBackend")
    for _ in range(2):
        with pytest.raises(NoHopperGpuError, match="made of cardboard") as error:
            worker.gpu()
        assert error.value.fix == "buy one"
    with pytest.raises(NoHopperGpuError, match="made of cardboard"):
        ask(worker, "echo", {})


def test_a_worker_that_cannot_start_is_an_error(fake_worker):
    with pytest.raises(HardwareError, match=r"did not start.*exit code 7"):
        ask(fake_worker("CrashingBackend"), "echo", {})


def test_a_question_given_up_half_way_does_not_answer_the_next(fake_worker):
    worker = fake_worker()
    replies = worker.ask("echo", [{"x": x} for x in range(10)], deadline_s=QUICK_S)
    assert next(replies).values["params"] == {"x": 0}
    replies.close()
    assert works(worker)


def test_closing_ends_the_process_and_the_next_question_starts_another(fake_worker):
    worker = fake_worker()
    (reply,) = ask(worker, "echo", {})
    worker.close()
    with pytest.raises(ProcessLookupError):
        os.kill(reply.values["pid"], 0)
    assert works(worker)


def test_it_ends_when_its_parent_is_killed(tmp_path):
    program = """
import os, sys
from tmalab.hardware.worker_client import Worker
worker = Worker("fake_backend:FakeBackend")
(reply,) = worker.ask("echo", [{}], deadline_s=30)
list(worker.ask("echo", [{}], deadline_s=30))
print(reply.values["pid"], flush=True)
next(worker.ask("hang", [{"seconds": 3600}], deadline_s=3600))
"""
    here = str(Path(__file__).parent)
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": here},
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    with parent:
        pid = int(parent.stdout.readline())
        time.sleep(0.3)  # let it ask for the hang
        parent.kill()
    until = time.monotonic() + QUICK_S
    while time.monotonic() < until and Path(f"/proc/{pid}").exists() and _is_running(pid):
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # an orphan waits for init to collect it


def test_a_module_of_the_notebooks_folder_does_not_shadow_pythons(fake_worker, tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise RuntimeError('shadowed')")
    monkeypatch.chdir(tmp_path)
    assert works(fake_worker())
