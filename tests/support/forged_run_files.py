"""Run files with hostile values."""

import copy
import json
import tomllib

WORDS = """
name = "box"
model = [{name = "heavy_top", strength = 2.0}, {name = "gravity_gradient", mu = 0.1, r = 1.0}]
[body]
inertia = [1.0, 2.0, 2.5]
mass = 3.0
[initial]
omega = [0.3, -0.7, 1.1]
attitude = {quaternion = [1.0, 0.0, 0.0, 0.0], scalar_first = true}
[run]
method = "mr2"
dt = 0.01
t_end = 10.0
save_every = 2
[ensemble]
members = 5
seed = 3
save = [0.0, 0.25]
reduce = ["mean(omega)", "quantiles(speed, 0.1)"]
reduce_times = 6
[vary]
omega = {normal = {mean = [0, 0, 50], sigma = 0.5}}
"model.heavy_top.strength" = {uniform = {low = 10.0, high = 30.0}}
attitude = {around = {sigma = 0.1}}
mass = {sweep = {from = 1.0, to = 2.0, count = 5}}
"""
HOSTILE = [  # as TOML
    *(
        "true",
        "0",
        "-1",
        "1",
        "9223372036854775807",
        "1" * 4000,
        "0.5",
        "-1e308",
        "1e308",
        "5e-324",
    ),
    *(
        "nan",
        "inf",
        '""',
        '"x"',
        '"\\u0000"',
        '"../x"',
        "1979-05-27",
        "07:32:00",
        "[]",
        "[[]]",
        "{}",
    ),
    *("[1, 2, 3]", "[1e308, 1e308, 1e308]", '["a", 1]', "{x = 1}", "[" * 12 + "]" * 12),
    *(
        '"mean(omega"',
        '"heavy_top"',
        '"dop853"',
        "[nan, 0, 0]",
        "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
    ),
    *("{file = 'none.csv'}", "{normal = {}}", "{sweep = 1}", '["mean(x)", "mean()", "__import__"]'),
]


class Raw(str):
    """TOML that is written as it is."""


def toml(value):
    if isinstance(value, Raw):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def places(value):
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield value, key
        yield from places(value[key])


def forged(random):
    data = copy.deepcopy(tomllib.loads(WORDS))
    for _ in range(1 + int(random.random() < 0.2)):
        found = list(places(data))
        place, key = found[random.integers(len(found))]
        if random.random() < 0.8:
            place[key] = Raw(HOSTILE[random.integers(len(HOSTILE))])
        else:
            del place[key]
    return "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in data.items())
