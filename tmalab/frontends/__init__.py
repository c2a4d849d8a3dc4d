"""Front ends: other people's languages for TMA, each run as its own package runs it, and recorded like a probe.

    Case(probe="cute", params={"program": "strips", …})
        └─▶ programs/cute_strips.py, in a worker process whose Python has the package ─▶ Observation

A program is to a front end what a `.cu` is to a probe: it is quoted by a chapter, and its hash is what a recording
carries. Importing this package loads no front end; `front_end.require` says which extra is missing.
"""
