"""Campaigns: their sizes, their counts, and the sums of these over runs with other seeds.

``POLHODE_CAMPAIGN`` is the size of a campaign with ``--slow``, ``POLHODE_SEED`` its seed (0), and
``POLHODE_CAMPAIGN_LOG`` a file that gets one line of JSON for each.  Their sums:

    PYTHONPATH=tests python -m support.campaigns LOG ...
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

SEED = int(os.environ.get("POLHODE_SEED", "0"))
SHOWN = 20  # failures that are printed


class Campaign:
    """What a campaign counts; ``failures`` describe what must not happen."""

    def __init__(self, name: str, size: int):
        self.name, self.size = name, size
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self.begun = cpu_seconds()

    def fail(self, what: str) -> None:
        self.counts["failures"] += 1
        self.failures.append(what)

    def close(self) -> None:
        """Print the counts, append them to the log, and raise an error if anything failed."""
        seconds = round(cpu_seconds() - self.begun)
        facts = {"campaign": self.name, "seed": SEED, "cpu_seconds": seconds, **self.counts}
        facts.setdefault("failures", 0)
        line = json.dumps(facts)
        sys.stdout.write(line + "\n")
        if log := os.environ.get("POLHODE_CAMPAIGN_LOG"):
            with open(log, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        assert not self.failures, "\n".join([line, *self.failures[:SHOWN]])


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


def add_up(lines: list[str]) -> dict[str, Counter]:
    """Return the sums of all counts, or the largest, over the seeds and groups of a campaign.

    A group, named after a comma, counts once for each seed.
    """
    runs = {(run["campaign"], run["seed"]): run for run in map(json.loads, lines)}
    sums: dict[str, Counter] = {}
    for (name, _), run in runs.items():
        found = sums.setdefault(name.split(",")[0], Counter())
        for key, value in {**run, "runs": 1}.items():
            if key.startswith("largest"):
                found[key] = max(found[key], value)
            elif key not in ("campaign", "seed"):
                found[key] += value
    return sums


def main(logs: list[str]) -> None:
    lines = [line for log in logs for line in Path(log).read_text(encoding="utf-8").splitlines()]
    for name, counts in add_up(lines).items():
        sys.stdout.write(json.dumps({"campaign": name, **counts}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
