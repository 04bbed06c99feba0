"""JupyterLab on loopback, with its files in a folder of the test and nothing asked outside."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
]
STARTS_IN = 60  # seconds


class Server:
    def __init__(self, url: str, token: str):
        self.url, self.token = url, token
        self.origin = urlsplit(url).netloc

    def address(self, notebook: str) -> str:
        return f"{self.url}lab/tree/{notebook}?token={self.token}"


@contextmanager
def jupyterlab(folder):
    """Serve the notebooks in ``folder``."""
    settings = folder / "jupyter"
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    environment = {**os.environ, **{name: str(settings / end) for name, end in places.items()}}
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS, f"--ServerApp.root_dir={folder}"]
    log = folder / "jupyter.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield Server(*_address(server, settings / "runtime", log))
    finally:
        server.terminate()  # it ends its kernels
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _address(server, runtime, log) -> tuple[str, str]:
    """Read the address from the file that the server writes when it listens."""
    until = time.monotonic() + STARTS_IN
    while time.monotonic() < until and server.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            try:
                told = json.loads(file.read_text())
            except ValueError:  # not yet whole
                continue
            return told["url"], told["token"]
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}")


def write_notebook(path, cells: list[str]) -> None:
    """Write a notebook of code cells."""
    sources = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for number, source in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": sources, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook))
