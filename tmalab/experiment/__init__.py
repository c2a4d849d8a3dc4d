"""What hardware, recordings, tests and chapters share: a `Case` to try, and the `Observation` of what was seen."""
