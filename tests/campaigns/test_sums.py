"""Counts of runs with other seeds add up."""

import json

from support.campaigns import add_up


def test_counts_add_up_over_seeds():
    runs = [
        {"campaign": "kills", "seed": 0, "kills": 3, "failures": 0},
        {"campaign": "kills", "seed": 1, "kills": 4, "failures": 1, "largest": 7},
        {"campaign": "kills", "seed": 1, "kills": 5, "failures": 0, "largest": 6},  # again
        {"campaign": "files, large", "seed": 1, "files": 9, "failures": 0},
        {"campaign": "files, small", "seed": 1, "files": 2, "failures": 0},
    ]
    found = add_up([json.dumps(run) for run in runs])
    assert found["kills"] == {"runs": 2, "kills": 8, "failures": 0, "largest": 6}
    assert found["files"]["files"] == 11
