"""``polhode fit``: a log in, a table, a JSON file and a picture out."""

import json

import numpy as np
import pytest

import polhode as ph

PROBLEM = """
[body]
inertia = [2.0, 2.9, 4.2]

[initial]
omega = [0.3, 0.9, 0.25]

[run]
method = "mr2"
dt = 0.05
t_end = 1
"""
BODY = ph.RigidBody([2.0, 3.0, 4.2])
OMEGA = 0.3, 0.9, 0.2
pytestmark = pytest.mark.usefixtures("plain")


@pytest.fixture
def log(tmp_path):
    """Two seconds of a tumbling body, six lines without a rate, one attitude missing."""
    (tmp_path / "start.toml").write_text(PROBLEM)
    rng = np.random.default_rng(5)
    t = np.arange(41) * 0.05
    run = ph.solve(ph.Problem(BODY, omega=OMEGA), (0, 2), t_eval=t, method="mr2", dt=0.05)
    rates = run.omega + 1e-4 * rng.normal(size=(41, 3))
    lines = ["time_ms,gx,gy,gz,qw,qx,qy,qz"]
    for k in range(41):
        cells = [f"{w:.8f}" for w in np.degrees(rates[k])] if k % 8 else ["", "", ""]
        cells += [f"{x:.8f}" for x in run.q[k]] if k != 7 else [""] * 4
        lines.append(f"{50 * k},{','.join(cells)}")
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    return "log.csv"


START = "--problem", "start.toml"
RATES = "--rates", "gx,gy,gz", "--degrees", "--sigma", 0.00573
MOMENTS = "--free", "omega,moments", "--hold", "largest moment"


def test_rates(polhode, log, tmp_path):
    code, out, err = polhode("fit", log, *START, *MOMENTS, *RATES)
    assert code == 0, err
    assert "6 lines of 'log.csv' lack a value and were left out" in err
    assert "rates at 35 times" in out
    assert "held      largest moment" in out
    found = json.loads((tmp_path / "log-fit.json").read_text())
    assert found["success"]
    value, sigma = found["values"]["moments"], found["standard_deviations"]["moments"]
    assert value[2] == 4.2
    assert max(abs(value[k] - BODY.principal_moments[k]) / sigma[k] for k in (0, 1)) < 4
    assert (tmp_path / "log-fit.png").stat().st_size > 5000
    row = next(line for line in out.splitlines() if line.startswith("moments.I1"))
    assert abs(float(row.split()[1]) - value[0]) < sigma[0]
    off = np.array(found["values"]["omega"]) - OMEGA  # at the first line, which has no rate
    assert np.abs(off / found["standard_deviations"]["omega"]).max() < 4


def test_attitudes_and_a_bias(polhode, log, tmp_path):
    both = "--attitudes", "qw,qx,qy,qz", "--attitude-sigma", 0.01, "--bias"
    options = "--out", "found.json", "--no-plot", "-q"
    code, out, err = polhode("fit", log, *START, "--free", "state,moments", *RATES, *both, *options,
                             "--hold", "trace of inertia")  # fmt: skip
    assert (code, out) == (0, ""), err
    assert "1 lines of 'log.csv' lack a value" in err
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["names"][-1] == "rates.bias.z"
    assert np.linalg.norm(found["values"]["rates.bias"]) < 1e-3
    assert not (tmp_path / "found.png").exists()


def test_attitudes_alone_in_radians(polhode, log):
    one = "--attitudes", "qw,qx,qy,qz", "--attitude-sigma", 1e-4
    code, out, err = polhode("fit", log, *START, "--free", "omega", *one, "--no-plot")
    assert code == 0, err
    assert "attitudes at 40 times" in out


def test_what_is_undetermined_is_one_line(polhode, log):
    code, _, err = polhode("fit", log, *START, "--free", "angular_momentum,moments", *RATES)
    assert code == 2
    assert "known only up to one common factor" in err.replace("\n", " ")


def test_a_search_that_does_not_converge_ends_with_1(polhode, log, tmp_path):
    short = "--max-iterations", 1, "--no-plot"
    code, out, err = polhode("fit", log, *START, *MOMENTS, *RATES, *short)
    assert code == 1
    assert "not converged" in out
    assert "error:" in err
    assert not json.loads((tmp_path / "log-fit.json").read_text())["success"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*MOMENTS, "--rates", "gx,gy,gz"), "observations is missing: give --sigma"),
        ((*MOMENTS, *RATES[:-1], -1), "--sigma must be positive, got -1"),
        ((*MOMENTS, *RATES, "--rates", "gx,gy"), "--rates takes 3 columns, separated by commas"),
        ((*MOMENTS, *RATES, "--radians"), "give --degrees or --radians, not both"),
        ((*MOMENTS, *RATES, "--attitude-sigma", 1), "is about attitudes: give --attitudes, too"),
        (
            (*MOMENTS, "--attitudes", "qw,qx,qy,qz", "--attitude-sigma", 1, "--sigma", 1),
            "--sigma and --bias are about angular velocities: give --rates, too",
        ),
        ((*MOMENTS, *RATES, "--rates", "a,b,c"), "there is no column 'a' in 'log.csv'"),
        ((*MOMENTS, *RATES, "--out", "log.csv"), "must end in .json, or be a directory"),
        (("--free", "mments", *RATES), "free has 'mments', which this problem has not"),
    ],
)
def test_mistakes(polhode, log, options, message):
    code, _, err = polhode("fit", log, *START, *options)
    assert code == 2
    assert message in err.replace("\n", " ")


def test_a_log_of_missing_values(polhode, log, tmp_path):
    (tmp_path / "empty.csv").write_text("time,gx,gy,gz\n0,,,\n1,,,\n")
    code, _, err = polhode("fit", "empty.csv", *START, *MOMENTS, *RATES)
    assert code == 2
    assert "no line of 'empty.csv' has all values" in err
