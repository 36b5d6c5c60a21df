"""What a figure of time depends on beside the code: machine, BLAS, versions."""

import datetime
import os
import platform
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from threadpoolctl import threadpool_info

from fsel_book import __version__


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.split(":", 1)[1].strip()
            for line in lines
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def blas():
    """Each BLAS in the process, and whose it is."""
    names = []
    for library in threadpool_info():
        if library["user_api"] == "blas":
            owner = re.search(r"(numpy|scipy)[._]libs", library["filepath"])
            kernels = (
                f", {library['architecture']} kernels"
                if library.get("architecture")
                else ""
            )
            names.append(
                f"{library['internal_api']} "
                f"{library['version']}{kernels}{f' ({owner[1]})' if owner else ''}"
            )
    return "; ".join(sorted(names)) or "not known to threadpoolctl"


def is_installed(package):
    modules = {
        "apricot-select": "apricot",
        "iris-sample-data": "iris_sample_data",
        "nirs4all-methods": "n4m",
        "pros-sketch": "pros",
        "python-sensors": "pysensors",
        "scikit-learn": "sklearn",
    }
    return find_spec(modules.get(package, package)) is not None


def conditions(packages=()):
    """Date, machine, BLAS and versions, of these packages too."""
    named = [
        name
        for name in ("numpy", "scipy", "scikit-learn", *packages)
        if is_installed(name)
    ]
    versions = ", ".join(f"{name} {version(name)}" for name in named)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        ("date", datetime.date.today().isoformat()),
        (
            "machine",
            f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB memory, "
            f"{platform.system()}",
        ),
        ("BLAS", blas()),
        (
            "versions",
            f"fsel_book {__version__}, Python {platform.python_version()}, {versions}",
        ),
    ]
