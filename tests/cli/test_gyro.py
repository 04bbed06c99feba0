"""Logs in text files, and ``polhode gyro``."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.cli import main as entry
from polhode.files import headers
from support.gyros import CONING, jittered

ROOT = Path(__file__).parents[2]
LOG = ROOT / "examples" / "gyro_log.csv"


@pytest.fixture
def gyro(monkeypatch, capsys, tmp_path):
    """Call ``polhode gyro`` in an empty directory: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["polhode", "gyro", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            entry.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


def written(values, times, head="t,x,y,z\n", separator=","):
    """A log with all digits."""
    path = Path("log.csv")
    rows = [separator.join(map(repr, map(float, row))) for row in np.column_stack([times, values])]
    path.write_text(head + "\n".join(rows) + "\n")
    return path


# ---- files
@pytest.mark.parametrize("separator", [",", ";", "\t", " ", ", "])
@pytest.mark.parametrize("head", ["", "t{0}x{0}y{0}z\n", "# made today\n\nt{0}x{0}y{0}z\n"])
def test_logs_are_read_as_they_were_written(separator, head, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    t = jittered(1.0, 20)
    path = written(CONING.body_rate(t), t, head.format(separator), separator)
    values, times = ph.read_samples(path, kind="rate")
    assert np.array_equal(times, t)
    assert np.array_equal(values, CONING.body_rate(t))


def test_columns_units_and_kinds(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text('n,"gx",gy,gz,"stamp"\n1,180,0,0,1000\n2,90,0,,2500\n3,45,0,nan,3000\n')
    names = ["stamp", "gx", "gy", "gz"]
    values, times = ph.read_samples(path, kind="rate", columns=names, degrees=True, time_unit="ms")
    assert np.allclose(times, [1.0, 2.5, 3.0])
    assert np.allclose(values[:, 0], [np.pi, np.pi / 2, np.pi / 4])
    assert np.isnan(values[:, 2]).tolist() == [False, True, True]
    by_number, _ = ph.read_samples(path, kind="increment", columns=[5, 2, 3, 4], time_unit="s")
    assert by_number[:, 0].tolist() == [90, 45]  # since the line before


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "has no samples"),
        ("t,x,y,z\n", {}, "a line of names but no samples"),
        ("t,x,y,z\n0,1,2,3\n1,1,fast,3\n", {}, "line 3 .*'fast' in column 3 is not a number"),
        ("# a\nt,x,y,z\n0,1,2,3\n1,1,2\n", {}, "line 4 .*has 3 columns, but column 4"),
        ("t,x,y,z\n0,1,2,3\n,1,2,3\n", {}, "line 3 .*has no time"),
        ("t,x,y,z\n0,1,2,3\n1,inf,2,3\n", {}, "line 3 .*infinite"),
        ("t,x,y,z\n0,1,2,3\n2,1,2,3\n1,1,2,3\n", {}, "line 4.*time 1 is before that of line 3"),
        ("t,x,y,z\n0,1,2,3\n0,1,2,3\n", {}, "line 3.*repeats that of line 2"),
        ("t,x,y\n0,1,2\n", {}, "no column 4 .*it has 3"),
        ("t,x,y,z\n0,1,2,3\n", {"columns": ["t", "x", "y", "Z"]}, "no column 'Z'.*t, x, y, z"),
        ("0,1,2,3\n", {"columns": ["t", "x", "y", "z"]}, "no column 't'.*no line of names"),
        ("0,1,2,3\n", {"columns": [0, 1, 2, 3]}, "no column 0 .*counted from 1"),
        ("0,1,2,3\n", {"columns": [1, 2, 3]}, "columns must be four"),
        ("0,1,2,3\n", {"time_unit": "h"}, "time_unit must be one of s, ms, us, ns, got 'h'"),
        ("0,1,2,3\n", {"kind": "angle"}, "kind must be 'rate' or 'increment'"),
    ],
)
def test_bad_logs_are_refused_with_their_line(text, options, message, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ph.PolhodeError, match=message):
        ph.read_samples(path, **{"kind": "rate", **options})


def test_files_that_are_not_logs(tmp_path):
    with pytest.raises(ph.FileError, match="there is no file"):
        ph.read_samples(tmp_path / "log.csv", kind="rate")
    (tmp_path / "log.csv").write_bytes(b"\xff\xfe\x00\x81" * 10)
    with pytest.raises(ph.FileError, match="not a text file"):
        ph.read_samples(tmp_path / "log.csv", kind="rate")


def test_the_log_of_the_example_is_current(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "gyro_log.py")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    again, kept = ((place / "gyro_log.csv").read_text() for place in (tmp_path, LOG.parent))
    assert again == kept, "copy the log that examples/gyro_log.py writes"


LOGGERS = {  # headers as they are written, and what is read: time, x, y, z, units
    "timestamp,ax,ay,az,gx,gy,gz": "timestamp gx gy gz",
    "Time (s)|Gyroscope x (rad/s)|Gyroscope y (rad/s)|Gyroscope z (rad/s)|Absolute (rad/s)": (
        "Time (s)|Gyroscope x (rad/s)|Gyroscope y (rad/s)|Gyroscope z (rad/s)|s|rad"
    ),  # phyphox
    "time,seconds_elapsed,z,y,x": "seconds_elapsed x y z s ",  # Sensor Logger
    "time,gFx,gFy,gFz,ax,ay,az,wx,wy,wz,p,Bx,By,Bz,Azimuth,Pitch,Roll": "time wx wy wz",
    "GYROSCOPE X (rad/s);GYROSCOPE Y (rad/s);GYROSCOPE Z (rad/s);ACCELEROMETER X (m/s²);"
    "ACCELEROMETER Y (m/s²);ACCELEROMETER Z (m/s²);Time since start in ms": (
        "Time since start in ms|GYROSCOPE X (rad/s)|GYROSCOPE Y (rad/s)|GYROSCOPE Z (rad/s)|ms|rad"
    ),  # AndroSensor
    "loggingTime(txt),accelerometerTimestamp_sinceReboot(s),accelerometerAccelerationX(G),"
    "accelerometerAccelerationY(G),accelerometerAccelerationZ(G),gyroTimestamp_sinceReboot(s),"
    "gyroRotationX(rad/s),gyroRotationY(rad/s),gyroRotationZ(rad/s)": (
        "gyroTimestamp_sinceReboot(s) gyroRotationX(rad/s) gyroRotationY(rad/s)"
        " gyroRotationZ(rad/s) s rad"
    ),  # SensorLog
    "timestamp,timestamp_sample,device_id,x,y,z,temperature,error_count": "timestamp x y z",  # PX4
    "timestamp,device_id,x,y,z,integral_dt,x_integral,y_integral,z_integral,x_raw,y_raw,z_raw": (
        "timestamp x y z"
    ),
    "timestamp,gyro_rad[0],gyro_rad[1],gyro_rad[2],gyro_integral_dt,accelerometer_m_s2[0],"
    "accelerometer_m_s2[1],accelerometer_m_s2[2]": (
        "timestamp gyro_rad[0] gyro_rad[1] gyro_rad[2]  rad"
    ),
    "timestamp,TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ,EG,EA,T,GH,AH,GHz,AHz": (
        "TimeUS GyrX GyrY GyrZ us "
    ),  # ArduPilot
    "time_usec,xacc,yacc,zacc,xgyro,ygyro,zgyro,xmag,ymag,zmag": "time_usec xgyro ygyro zgyro us ",
    "millis,AccX,AccY,AccZ,GyroX,GyroY,GyroZ": "millis GyroX GyroY GyroZ ms ",  # Arduino
    "time_ms,gyro_x_dps,gyro_y_dps,gyro_z_dps,accel_x_g,accel_y_g,accel_z_g": (
        "time_ms gyro_x_dps gyro_y_dps gyro_z_dps ms deg"
    ),
    "%time,field.header.stamp,field.orientation.x,field.orientation.y,field.orientation.z,"
    "field.orientation.w,field.angular_velocity.x,field.angular_velocity.y,"
    "field.angular_velocity.z,field.angular_velocity_covariance0,field.linear_acceleration.x": (
        "%time field.angular_velocity.x field.angular_velocity.y field.angular_velocity.z"
    ),  # rostopic echo -p
    "Time,header.stamp.secs,header.stamp.nsecs,angular_velocity.x,angular_velocity.y,"
    "angular_velocity.z,linear_acceleration.x,linear_acceleration.y,linear_acceleration.z": (
        "Time angular_velocity.x angular_velocity.y angular_velocity.z"
    ),  # bagpy
    "__time,/imu/angular_velocity/x,/imu/angular_velocity/y,/imu/angular_velocity/z": (
        "__time /imu/angular_velocity/x /imu/angular_velocity/y /imu/angular_velocity/z"
    ),  # PlotJuggler
    "timestamp [ns]|w_RS_S_x [rad s^-1]|w_RS_S_y [rad s^-1]|w_RS_S_z [rad s^-1]|a_RS_S_x [m s^-2]"
    "|a_RS_S_y [m s^-2]|a_RS_S_z [m s^-2]": (
        "timestamp [ns]|w_RS_S_x [rad s^-1]|w_RS_S_y [rad s^-1]|w_RS_S_z [rad s^-1]|ns|rad"
    ),  # EuRoC
    "SampleTimeFine,Acc_X,Acc_Y,Acc_Z,Gyr_X,Gyr_Y,Gyr_Z,Mag_X,Mag_Y,Mag_Z,Quat_q0": (
        "SampleTimeFine Gyr_X Gyr_Y Gyr_Z"
    ),  # Xsens
    "t|wx [deg/s]|wy [deg/s]|wz [deg/s]": "t|wx [deg/s]|wy [deg/s]|wz [deg/s]||deg",
    "t [ms]|ω_x [°/s]|ω_y [°/s]|ω_z [°/s]": "t [ms]|ω_x [°/s]|ω_y [°/s]|ω_z [°/s]|ms|deg",
    "t,omega_x_rad_s,omega_y_rad_s,omega_z_rad_s": (
        "t omega_x_rad_s omega_y_rad_s omega_z_rad_s  rad"
    ),
    "t,gx,gy,gz,gx_bias,gy_bias,gz_bias": "t gx gy gz",
    "t,p,q,r,phi,theta,psi": "t p q r",
}


@pytest.mark.parametrize("header", LOGGERS)
def test_columns_and_units_are_found_by_their_names(header):
    wanted = LOGGERS[header]
    *four, time_unit, unit = [*wanted.split("|" if "|" in wanted else " "), "", ""][:6]
    names = header.split(next(d for d in "|;," if d in header))
    found = [names[place] for place in headers.find(names, "rate")]
    assert found == four
    assert headers.units(found) == (time_unit, unit)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("aX,aY,aZ,gX,gY,gZ", "none of the columns aX, .*gZ is called a time"),
        ("t,ax,ay,az", "no three columns are called rates, .*t, ax, ay, az"),
        ("t,x,y,z,qx,qy,qz,qw", "no three columns are called rates"),  # a pose
        ("time[ms],x-axis[m/s^2],y-axis[m/s^2],z-axis[m/s^2]", "no three columns"),
        ("time,alpha,beta,gamma", "no three columns"),
        ("t,gx_rps,gy_rps,gz_rps", "no three columns"),  # radians or revolutions?
        ("t,gx_raw,gy_raw,gz_raw", "no three columns"),
        ("t,theta_x (deg),theta_y (deg),theta_z (deg)", "no three columns"),
        ("t,gx,gy,ax,ay,az", "the rates may be gx, gy, in a log"),
        ("t,gx,gx,gx", "the rates may be gx, gx, gx"),
        ("t,g1_x,g1_y,g1_z,g2_x,g2_y,g2_z", "the rates may be g1_x, g1_y, g1_z; g2_x"),
        ("t,gx [rad/s],gy [deg/s],gz [deg/s]", "the rates may be gx|the columns.*different units"),
        (
            "epoc (ms),elapsed (s),gx,gy,gz",
            r"several columns may be the time: epoc \(ms\), elapsed",
        ),
        ("header.stamp.sec,header.stamp.nanosec,wx,wy,wz", "none of the columns header"),
    ],
)
def test_names_that_leave_a_doubt_are_refused(header, message, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(header + "\n" + ",".join("1" * (header.count(",") + 1)) + "\n")
    with pytest.raises(ph.InputError, match=message) as refused:
        ph.read_samples(path, kind="rate")
    assert "--columns" in str(refused.value)


def test_many_columns_without_names_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("0,1,2,3,4,5,6\n1,1,2,3,4,5,6\n")
    with pytest.raises(ph.InputError, match=r"7 columns and no line of names.*--columns"):
        ph.read_samples(path, kind="rate")
    values, _ = ph.read_samples(path, kind="rate", columns=[1, 5, 6, 7])
    assert values[0].tolist() == [4, 5, 6]


def test_names_in_a_comment_and_names_that_say_nothing(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "#timestamp [ns],a_x [m s^-2],w_x [rad s^-1],w_y [rad s^-1],w_z [rad s^-1]\n"
        "5000000,9,1,2,3\n10000000,9,1,2,3\n"
    )
    with pytest.warns(ph.PolhodeWarning, match="read in rad/s and ns, as the names of the columns"):
        values, times = ph.read_samples(path, kind="rate")
    assert (values[0].tolist(), times.tolist()) == ([1, 2, 3], [0.005, 0.01])
    path.write_text("foo,bar,baz,qux\n0,1,2,3\n")
    with pytest.warns(ph.PolhodeWarning, match="foo, bar, baz, qux say nothing.*columns="):
        values, _ = ph.read_samples(path, kind="rate")
    assert values.tolist() == [[1, 2, 3]]


def test_units_come_from_the_names_and_are_told(gyro):
    t = 10 * np.arange(11)
    log = written(np.full((11, 3), 90.0), t, "time_ms,gyro_x_dps,gyro_y_dps,gyro_z_dps\n")
    with pytest.warns(ph.PolhodeWarning, match="read in deg/s and ms, .*give degrees="):
        values, times = ph.read_samples(log, kind="rate")
    assert (values[0, 0], times[1]) == (np.pi / 2, 0.01)
    values, times = ph.read_samples(log, kind="rate", degrees=False, time_unit="s")
    assert (values[0, 0], times[1]) == (90, 10)
    code, out, err = gyro(log, "--no-plot")
    assert (code, err) == (0, "")
    assert "body rates in degrees/s, times in ms   as the names of the columns say" in out
    assert "give --degrees or --radians" in gyro(log, "--degrees", "--radians")[2]


def test_whole_numbers_far_apart_are_no_seconds(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("timestamp,x,y,z\n0,1,2,3\n4000,1,2,3\n8001,1,2,3\n")
    with pytest.warns(ph.PolhodeWarning, match="whole numbers, 4000.5 apart.*time_unit="):
        ph.read_samples(path, kind="rate")


@pytest.mark.parametrize(
    ("stamps", "passed"),
    [
        (("2026-03-01T12:00:00", "2026-03-01T12:00:01.5"), 1.5),
        (("2026-03-01 12:00:00.000000001Z", "2026-03-01 12:00:00.000000003Z"), 2e-9),
        (("2026-03-01T12:00:00.25+01:00", "2026-03-01T11:00:01,25UTC"), 1.0),
        (("2026-03-01T23:59:59.9-0530", "2026-03-02T05:30:00.0Z"), 0.1),
    ],
)
def test_dates_are_times(stamps, passed, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time;gx;gy;gz\n" + "".join(f"{stamp};1;2;3\n" for stamp in stamps))
    assert ph.read_samples(path, kind="rate")[1].tolist() == [0.0, passed]
    for bad in ("2026-03-01T12:00:61", "later", "", "7", "2026-03-01T12:00"):
        bad += "" if stamps[0][-1].isdigit() and "+" not in stamps[0] else "x"
        path.write_text(f"time;gx;gy;gz\n{stamps[0]};1;2;3\n{bad};1;2;3\n")
        message = "line 3.*not a date|line 3.*the time"
        with pytest.raises(ph.FileError, match=message):
            ph.read_samples(path, kind="rate")


# ---- the command
def test_the_bias_is_subtracted(gyro):
    t = np.linspace(0, 4, 401)
    rates = np.degrees(CONING.body_rate(t)) * (t >= 1)[:, None]
    options = "--degrees", "--no-plot", "--order", 2
    assert gyro(written(rates, t), *options, "--out", "right.nc")[0] == 0
    log = written(np.add(rates, [1.0, -2.0, 0.5]), t)
    for bias in ("1,-2,0.5", "0.9"):
        code, out, err = gyro(log, *options, "--bias", bias, "--out", "b.nc")
        assert (code, err) == (0, "")
        assert "0.01745, -0.03491, 0.008727 rad/s, subtracted" in out
        assert np.allclose(ph.load("b.nc").q, ph.load("right.nc").q, rtol=0, atol=1e-13)
    assert "--bias takes X,Y,Z or seconds at rest" in gyro(log, "--bias", "1,2")[2]
    assert "does not look at rest" in gyro(log, *options, "--bias", 2)[2]


def test_the_command_alone(gyro):
    t = jittered(10.0, 400)
    code, out, err = gyro(written(CONING.body_rate(t), t))
    assert (code, err) == (0, "")
    for words in ("body rates in rad/s", "401 lines", "gaps", "none", "order 6", "rad at most"):
        assert words in out
    assert sorted(p.name for p in Path().iterdir()) == [
        "log-attitude.nc",
        "log-attitude.png",
        "log.csv",
    ]
    run = ph.load("log-attitude.nc")
    right = CONING.attitude(0.0).inv() * CONING.attitude(t)
    assert (run.rotation.inv() * right).magnitude().max() < 1e-9
    assert run.problem["name"] == "log"


def test_the_log_of_the_example(gyro):
    code, out, err = gyro(LOG, "--degrees", "--bridge", "--out", "results")
    assert (code, err) == (0, "")
    assert "2 bridged" in out
    assert "5 samples missing" in out
    assert "degrees/s" in out
    assert ph.load("results/gyro_log-attitude.nc").arguments["missing"] == "bridge"


def test_increments_to_a_table(gyro):
    t = jittered(10.0, 400)
    values = np.vstack([[9.0, 9.0, 9.0], CONING.samples(t, "inertial", "increment")])
    start = CONING.attitude(0.0)
    q = ",".join(map(repr, start.as_quat(scalar_first=True).tolist()))
    options = "--kind", "increment", "--frame", "inertial", "--order", 8, "--attitude", q
    code, out, _ = gyro(written(values, t), *options, "--out", "here/q.csv", "--no-plot", "-q")
    assert (code, out) == (0, "")
    assert [p.name for p in Path("here").iterdir()] == ["q.csv"]
    table = np.genfromtxt("here/q.csv", delimiter=",", names=True)
    assert table.dtype.names[:5] == ("time", "q_w", "q_x", "q_y", "q_z")
    last = CONING.attitude(t[-1]).as_quat(scalar_first=True)
    found = np.array([table[f"q_{c}"][-1] for c in "wxyz"])
    assert min(np.abs(found - last).max(), np.abs(found + last).max()) < 1e-10


def test_mistakes_on_the_command_line(gyro):
    t = np.linspace(0, 1, 11)
    log = written(np.zeros((11, 3)), t)
    for options, message in (
        (("--frame", "space"), "frame must be 'body' or 'inertial'"),
        (("--kind", "rates"), "kind must be"),
        (("--order", 3), "order must be 2, 4, 6 or 8"),
        (("--attitude", "1,0,0"), "--attitude takes w,x,y,z"),
        (("--attitude", "1,1,0,0"), "unit quaternion"),
        (("--columns", "t,x,y,w"), "no column 'w'"),
        (("--time-unit", "min"), "time_unit must be one of"),
        (("--max-gap", 0.01), "max_gap"),
        (("--out", "log.csv"), "would replace the log itself"),
    ):
        if options[0] == "--max-gap":
            log = written(np.zeros((10, 3)), np.delete(t, 5))
        code, out, err = gyro(log, *options)
        assert (code, out) == (2, ""), options
        assert message in err
        assert [p.name for p in Path().iterdir()] == ["log.csv"]
    assert "there is no file" in gyro("lgo.csv")[2]


def test_a_missing_value_is_refused_with_its_line(gyro):
    code, _, err = gyro(LOG, "--degrees")
    assert code == 2
    assert "line 403 of 'gyro_log.csv' lacks a value (5 such lines)" in err
    assert "--bridge" in err


def test_degrees_are_suspected(gyro):
    code, _, err = gyro(written(np.full((101, 3), 400.0), np.linspace(0, 1, 101)))
    assert code == 0
    assert err.startswith(
        "warning: the rates look like degrees per second: as rad/s they reach 693"
    )
    assert "--degrees" in err
    code, _, err = gyro(written(np.full((101, 3), 400.0), np.linspace(0, 1, 101)), "--radians")
    assert err.startswith("warning: the body turns by 6.93 rad")
