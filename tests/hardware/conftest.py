"""Workers that run `fake_backend` in place of a GPU, ended after each test."""

from pathlib import Path

import pytest


@pytest.fixture
def fake_worker(monkeypatch):
    """Makes a worker of `fake_backend`'s class of the given name."""
    from tmalab.hardware.worker_client import Worker

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    made = []

    def make(backend="FakeBackend"):
        made.append(Worker(f"fake_backend:{backend}"))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


@pytest.fixture
def fake_gpu(monkeypatch):
    """Everything that asks for the pool's workers gets fake ones."""
    from tmalab.hardware import worker_client

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(worker_client, "BACKEND", "fake_backend:FakeBackend")
    monkeypatch.setattr(worker_client, "_pool", [])
    yield
    worker_client.close_worker()
