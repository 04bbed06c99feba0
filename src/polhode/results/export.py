"""Trajectories as texts, xarray data sets and pandas tables."""

import html
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode._version import __version__
from polhode.errors import FileError
from polhode.files import netcdf

if TYPE_CHECKING:
    import pandas


VECTORS = {
    "omega": ("angular velocity, body axes", "rad/s"),
    "angular_momentum": ("angular momentum, body axes", "kg m2/s"),
    "angular_momentum_inertial": ("angular momentum, inertial axes", "kg m2/s"),
    "x": ("position of the centre of mass, inertial axes", "m"),
    "v": ("velocity of the centre of mass, inertial axes", "m/s"),
}
CHOICES = ".nc (NetCDF), .zarr, .csv or .parquet"
COUNTS = "nsteps", "nfev", "niter", "rejected"


def as_text(title: str, words: Mapping[str, str]) -> str:
    """Format the summary of a result, one line per topic."""
    return f"{title}\n" + "\n".join(f"  {k:<8} {v}" for k, v in words.items())


def as_html(title: str, words: Mapping[str, str]) -> str:
    """Format it as a table, for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
        f"<td style='text-align:left'>{html.escape(v)}</td></tr>"
        for k, v in words.items()
    )
    return f"<table><caption>{title}</caption>{rows}</table>"


def summary(run: Any) -> dict[str, str]:
    """Describe a trajectory in a few words, by topic."""
    span = f"{run.t[0]:g} to {run.t[-1]:g}" if len(run) else "empty"
    counts = f"{run.nsteps} steps, {run.nfev} torque evaluations"
    if run.rejected:
        counts += f", {run.rejected} trials rejected"
    if run.niter:
        counts += f", {run.niter} Newton iterations"
    if run.body is None:
        counts = f"{run.nsteps} {'steps' if run.nfev else 'intervals'}"
        counts += f", {run.nfev} evaluations" if run.nfev else ""
    facts = {
        "states": f"{len(run)}, t = {span}",
        "method": ", ".join([run.method, *(f"{k}={v!r}" for k, v in run.arguments.items())]),
        **({"chosen": run.reason} if run.reason else {}),
        "work": counts,
        "ended": (run.message or "success") if run.success else f"{run.status.name}: {run.message}",
    }
    if run.t_events:
        facts["events"] = ", ".join(str(len(times)) for times in run.t_events) + " found"
    if run.gaps:
        longest = max(end - start for start, end in run.gaps)
        facts["gaps"] = f"{len(run.gaps)} bridged, the longest {longest:.3g} s"
    if run.error is not None and len(run) and not np.isnan(run.error).all():
        facts["error"] = f"{np.nanmax(run.error):.1e} rad at most, as estimated"
    if run.problem:
        facts = {"problem": f"{run.problem['name'] or run.problem['model']}", **facts}
    return facts


def data(run: Any) -> netcdf.Data:
    """Return the variables, coordinates and attributes of a trajectory's data set."""
    variables: dict[str, Any] = {
        "q": (
            ("time", "quaternion"),
            run.q,
            {"long_name": "attitude, body to inertial, Hamilton, scalar first"},
        )
    }
    for name, (text, unit) in VECTORS.items():
        if (values := getattr(run, name)) is not None:
            variables[name] = ("time", "component"), values, {"long_name": text, "units": unit}
    if run.potential_energy is not None:
        variables["potential_energy"] = ("time",), run.potential_energy, {"units": "J"}
        variables["energy"] = ("time",), run.energy, {"units": "J"}
    for name, values in run.variables.items():
        dims = ("time",) if values.ndim == 1 else ("time", f"{netcdf.BESIDE}{name}_part")
        variables[netcdf.BESIDE + name] = (
            dims,
            values,
            {"long_name": f"{name}, a variable of the model"},
        )
    if run.error is not None:
        about = {"long_name": "estimated error of the attitude", "units": "rad"}
        variables["error"] = ("time",), run.error, about
    coordinates = {
        "time": (("time",), run.t, {"units": "s", "long_name": "time"}),
        "component": list("xyz"),
        "quaternion": list("wxyz"),
    }
    if run.derivatives is not None:
        coordinates["of"] = _rows_of(run)
        variables |= _sensitivities(run.derivatives)
    triangles, kind = _geometry(run.body)
    return netcdf.Data({**variables, **triangles}, coordinates, {**attributes(run), **kind})


def _sensitivities(derivatives: Any) -> dict[str, Any]:
    """Return arrays of derivatives by what they are by."""
    return {
        netcdf.SENSITIVITY + name: (
            ("time", "of", f"by_{name}")[: values.ndim],
            values,
            {"long_name": f"derivatives of (θ, m), … by {name}"},
        )
        for name, values in derivatives.items()
    }


def _rows_of(run: Any) -> list[str]:
    """Return names for the rows of a matrix of derivatives."""
    vectors = "theta", *(("m",) if run.body is not None else ())
    vectors = *vectors, *(("x", "p") if run.x is not None else ())
    rows = [f"{name}_{c}" for name in vectors for c in "xyz"]
    for name, values in run.variables.items():
        single = values.ndim == 1
        rows += [name] if single else [f"{name}_{k}" for k in range(values.shape[1])]
    return rows


def attributes(run: Any) -> dict[str, Any]:
    """Return the attributes of a trajectory's data set, without those of its geometry."""
    return {
        "format": netcdf.FORMAT,
        "polhode_version": __version__,
        "method": run.method,
        "reason": run.reason,
        "arguments": json.dumps(dict(run.arguments)),
        "problem": json.dumps(run.problem),
        **_body_facts(run),
        **({"sensitivities": json.dumps(list(run.derivatives))} if run.derivatives else {}),
        "status": int(run.status),
        "message": run.message,
        **{name: getattr(run, name) for name in COUNTS},
    }


def _geometry(body: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (variables, attributes) for the triangles of a body, if they are known."""
    known = None if body is None else body.geometry
    if known is None:
        return {}, {}
    texts = (
        {"long_name": "corners of the body's triangles, in its own coordinates", "units": "m"},
        {"long_name": "triangles, indices of vertices, counterclockwise from outside"},
    )
    parts = zip(netcdf.GEOMETRY.items(), (known.vertices, known.faces), texts, strict=True)
    found = {
        name: (dims, values, text, netcdf.COMPRESSED) for (name, (dims, _)), values, text in parts
    }
    return found, {"geometry": known.kind}


def _body_facts(run: Any) -> dict[str, Any]:
    if run.body is None:
        return {}
    body = run.body
    return {"inertia": body.inertia.ravel(), "mass": body.mass, "centre": body.centre}


def columns(run: Any) -> dict[str, np.ndarray]:
    """Return the columns of a trajectory's table, without the time."""
    columns = {f"q_{c}": run.q[:, i] for i, c in enumerate("wxyz")}
    for name in VECTORS:
        if (values := getattr(run, name)) is not None:
            columns |= {f"{name}_{c}": values[:, i] for i, c in enumerate("xyz")}
    for name, values in run.variables.items():
        if values.ndim == 1:
            columns[name] = values
        else:
            columns |= {f"{name}_{k}": part for k, part in enumerate(values.T)}
    if run.energy is not None:
        columns["energy"] = run.energy
    if run.error is not None:
        columns["error"] = run.error
    return columns


def dataframe(run: Any) -> "pandas.DataFrame":
    """Return the pandas table of a trajectory."""
    import pandas

    return pandas.DataFrame(columns(run), index=pandas.Index(run.t, name="time"))


def save(run: Any, path: str | os.PathLike) -> Path:
    """Write a trajectory to a file, whose suffix chooses the format."""
    suffix = Path(path).suffix
    if suffix in (".csv", ".parquet"):
        from polhode.files import tables

        return tables.write(path, {"time": run.t, **columns(run)}, attributes(run))
    if suffix == ".zarr":
        from polhode.files import zarr_folder

        return zarr_folder.write(path, data(run))
    if suffix != ".nc":
        raise FileError(f"path must end in {CHOICES}, got {str(path)!r}")
    return netcdf.write(path, data(run))
