"""What the names of a log's columns say: which are the time and the rates, and in which units.

A name is split into words: ``gyro_x_dps``, ``GyrX`` and ``angular_velocity.x [rad/s]`` are words
for the sensor, an axis and perhaps a unit.  Three columns that differ in the axis alone are the
axes of one vector.  The rates are the one vector with a word for angular velocities or a unit of
them, or the only vector there is, if it has no word at all (x, y, z).
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from polhode.errors import InputError

TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
TIME_WORDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "usec", "usecs", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanos", "nanosec", "nanosecond", "nanoseconds"), "ns"),
}
CLOCKS = {*TIME_WORDS, "t", "time", "timestamp", "stamp", "elapsed", "epoch", "epoc", "datetime"}
PLAIN_CLOCKS = ("t",), ("time",), ("timestamp",), ("stamp",), ("time", "stamp"), ("datetime",)

RATE_UNITS = {  # by the letters of a name, without blanks and signs
    **dict.fromkeys(("rads", "radps", "radpers"), "rad/s"),
    **dict.fromkeys(("degs", "degps", "degpers", "dps"), "deg/s"),
    **dict.fromkeys(("mrads", "mradps"), "mrad/s"),
    **dict.fromkeys(("mdegs", "mdps"), "mdeg/s"),
    **dict.fromkeys(("rps", "rpm", "lsb", "counts"), "?"),
    "rad": "rad",
    "deg": "deg",
}
RATE_WORDS = {"gyro", "gyroscope", "gyr", "omega", "w", "g", "angvel", "angularvelocity"}
RATE_PAIRS = ("angular", "velocity"), ("angular", "rate"), ("rotation", "rate"), ("ang", "vel")
INCREMENT_PAIRS = ("delta", "angle"), ("angle", "increment"), ("d", "theta"), ("delta", "theta")
DERIVED = {  # numbers about a rate that are not the rate
    *("integral", "raw", "derivative", "dot", "covariance", "cov", "bias", "offset", "std", "var"),
    *("delta", "variance", "clipping", "clip", "scale", "mean", "temperature", "temp"),
}
OTHERS = {  # other things that are logged beside a gyro
    *("acc", "accel", "accelerometer", "acceleration", "a", "lin", "linear", "gravity", "mag"),
    *("magnetometer", "magnetic", "m", "b", "v", "vel", "velocity", "pos", "position", "q", "quat"),
    *("quaternion", "orientation", "euler", "angle", "roll", "pitch", "yaw", "alpha", "beta"),
    *("gamma", "heading", "azimuth", "gps", "baro", "pressure", "altitude", "force", "torque"),
}
FILLERS = {"axis", "xyz", "value", "values", "data", "field", "sensor", "imu", "body", "msg"}
CHOOSE = "choose time, x, y and z with columns=, or --columns on the command line"


class Name(NamedTuple):
    """A column's name, taken apart."""

    words: tuple[str, ...]  # without axis and unit
    axis: str  # x, y, z or none
    unit: str  # as in RATE_UNITS; "?" for any other
    time_unit: str  # as in TIMES


def take_apart(name: str) -> Name:
    """Split a column's name into words, axis and unit."""
    text = name.replace("ω", "omega").replace("°", "deg").translate({0xB5: "u", 0x3BC: "u"})
    index = re.search(r"\[([0-2])\]\s*$", text)
    bracket = None if index else re.search(r"[\[(]([^\])]*)[\])]\s*$", text)
    end = index or bracket
    stem = text[: end.start()] if end else text
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", stem)]
    axis = "xyz"[int(index[1])] if index else ""
    if not axis:
        words, axis = _without_axis(words)
    unit = time = ""
    if bracket and bracket[1].strip():
        time = TIME_WORDS.get(bracket[1].strip().lower(), "")
        unit = RATE_UNITS.get(_letters(bracket[1]), "?")
    else:
        time = next((TIME_WORDS[word] for word in reversed(words) if word in TIME_WORDS), "")
        for count in (3, 2, 1):
            found = RATE_UNITS.get(_letters(" ".join(words[-count:])))
            if found and len(words) >= count:
                words, unit = words[:-count], found
                break
    return Name(tuple(words), axis, unit, time)


def _without_axis(words: list[str]) -> tuple[list[str], str]:
    """Take the axis out of the words: x by itself, or at an end of a word for a sensor."""
    for place in reversed(range(len(words))):
        word = words[place]
        if word in ("x", "y", "z"):
            return words[:place] + words[place + 1 :], word
        for axis, rest in ((word[-1], word[:-1]), (word[0], word[1:])):
            if axis in "xyz" and rest in RATE_WORDS | OTHERS:
                return [*words[:place], rest, *words[place + 1 :]], axis
    return words, ""


def _letters(unit: str) -> str:
    """Return the letters of a unit: degrees per second, deg/s and deg s^-1 are "degs"."""
    text = unit.lower().replace("degrees", "deg").replace("degree", "deg").replace("radians", "rad")
    text = re.sub(r"seconds?|sec", "s", text).replace(" per ", "")
    return re.sub(r"[^a-z]", "", re.sub(r"s\s*(\^\s*-\s*1|-1|⁻¹)", "s", text))


def find(names: Sequence[str], kind: str) -> list[int]:
    """Return the places of time, x, y and z; names that do not tell are an error."""
    parts = [take_apart(name) for name in names]
    return [_time(names, parts), *_vector(names, parts, kind)]


def find_time(names: Sequence[str]) -> int:
    """Return the place of the time; names that do not tell are an error."""
    return _time(names, [take_apart(name) for name in names])


def says_nothing(names: Sequence[str]) -> bool:
    """Return whether no name after the first has an axis, a unit or a word that is known here."""
    known = {word for word in RATE_WORDS | OTHERS | DERIVED if len(word) > 1}
    parts = [take_apart(name) for name in names[1:]]
    return not any(part.axis or part.unit or known & set(part.words) for part in parts)


def has_time(names: Sequence[str]) -> bool:
    """Return whether there is a column of times."""
    return any(_is_time(take_apart(name)) for name in names)


def _is_time(part: Name) -> bool:
    words = set(part.words)
    return bool(words & CLOCKS) and not part.axis and not words & (OTHERS | DERIVED)


def _time(names: Sequence[str], parts: list[Name]) -> int:
    """Return the place of the time: of several, the only one with a unit, or a plain name."""
    found = [place for place, part in enumerate(parts) if _is_time(part)]
    halves = {
        parts[p].words[:-1] for p in found if parts[p].words[-1].startswith(("nsec", "nanos"))
    }
    whole = [p for p in found if parts[p].words[:-1] not in halves or len(parts[p].words) == 1]
    for chosen in (
        whole,
        [place for place in whole if parts[place].time_unit],
        [place for place in whole if _bare(parts[place].words) in PLAIN_CLOCKS],
    ):
        if len(chosen) == 1:
            return chosen[0]
    if not whole:
        raise InputError(f"none of the columns {', '.join(names)} is called a time; {CHOOSE}")
    several = ", ".join(names[place] for place in whole)
    raise InputError(f"several columns may be the time: {several}; {CHOOSE}")


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in FILLERS)


def _vector(names: Sequence[str], parts: list[Name], kind: str) -> list[int]:
    """Return the places of x, y and z of the rates."""
    vectors: dict[tuple, dict[str, list[int]]] = {}
    for place, part in enumerate(parts):
        if part.axis:
            axes = vectors.setdefault((part.words, part.unit), {})
            axes.setdefault(part.axis, []).append(place)
    found: list[list[int]] = []
    bare: list[list[int]] = []
    others = 0
    for (words, unit), axes in vectors.items():
        places = [place for axis in "xyz" for place in axes.get(axis, ())]
        if _is_rate(words, unit, kind):
            found.append(places)
        elif not _bare(words) and not unit:
            bare.append(places)
        elif not set(words) & DERIVED:
            others += 1
    letters = [part.words for part in parts]
    if not found and all(letters.count((letter,)) == 1 for letter in "pqr"):
        return [letters.index((letter,)) for letter in "pqr"]
    if not found and not others:
        found = bare
    if len(found) == 1 and "".join(parts[place].axis for place in found[0]) == "xyz":
        return found[0]
    listed = "; ".join(", ".join(names[place] for place in places) for places in found)
    what = f"the rates may be {listed}" if found else "no three columns are called rates"
    raise InputError(f"{what}, in a log with the columns {', '.join(names)}; {CHOOSE}")


def _is_rate(words: tuple[str, ...], unit: str, kind: str) -> bool:
    """Return whether words and unit are those of angular velocities, or of increments."""
    pairs = set(pairwise(words))
    if kind == "increment" and pairs & set(INCREMENT_PAIRS):
        return True
    if unit == "?" or set(words) & DERIVED:
        return False
    if set(words) & RATE_WORDS or pairs & set(RATE_PAIRS):
        return not set(words) & (OTHERS - {"angle", "velocity", "vel"})
    return unit.endswith("/s") and not set(words) & OTHERS


def units(names: Sequence[str], angles_given: bool = False) -> tuple[str, str]:
    """Return the units of time and angles that the four names give, empty where they do not."""
    time, *rates = map(take_apart, names)
    found = {part.unit.removesuffix("/s") for part in rates}
    if angles_given or not found - {"", "?"}:
        return time.time_unit, ""
    if len(found) > 1:
        raise InputError(
            f"the columns {', '.join(names[1:])} have different units; give degrees=True or False"
            " (--degrees or --radians)"
        )
    return time.time_unit, found.pop()
