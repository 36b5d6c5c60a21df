"""Take a release to the step before the upload, and say what that step is. `make
release` calls this.

Builds the source distribution and the wheel, checks them, and tries the wheel with its
run-time dependencies alone, on each Python with the oldest and with the newest versions
of them, and the source distribution on the first Python. What is built lies in
build/release/dist.

usage: python tools/release.py [PYTHON ...]
"""

import argparse
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

root = Path(__file__).resolve().parent.parent
folder = root / "build" / "release"
# those whose versions the table shows
shown = ["numpy", "scipy", "scikit-learn", "matplotlib"]

parser = ConfigParser(delimiters=["="])
parser.read(root / "settings.ini", encoding="utf-8")
settings = parser["DEFAULT"]


def oldest() -> str:
    """The lower bounds of the run-time dependencies as constraints for pip."""
    return re.sub(r">=(.*)", r"==\1.*", settings["requirements"].strip()) + "\n"


def run(*command: str | Path) -> str:
    """What a command prints; where it fails, all that it said, and the end of the
    release.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"{done.stdout}{done.stderr}\nThis failed: {' '.join(map(str, command))}"
        )
    return done.stdout


def git(*arguments: str | Path) -> str:
    return run("git", "-C", root, *arguments).strip()


def environment(name: str, python: str | Path, *install: str | Path) -> Path:
    """A new environment with what is to be installed; returns its Python."""
    run(python, "-m", "venv", "--clear", folder / name)
    fresh = folder / name / "bin" / "python"
    run(fresh, "-m", "pip", "install", "--quiet", "--no-compile", *install)
    run(fresh, "-m", "pip", "check")
    return fresh


def obstacles(version: str) -> list[str]:
    """What speaks against an upload although the package is sound."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    (heading,) = re.findall(r"^## (.*)$", changelog, flags=re.MULTILINE)[:1]
    found = []
    if not re.fullmatch(rf"{re.escape(version)}, \d{{4}}-\d\d-\d\d", heading):
        found.append(
            f"CHANGELOG.md begins with '{heading}'; a release begins with '{version}, "
            f"' and its date"
        )
    if git("tag", "--list", f"v{version}"):
        found.append(
            f"there is a tag v{version} already; the version in settings.ini has to "
            f"grow"
        )
    return found


def build(tools: Path, version: str) -> tuple[Path, Path]:
    """Build both distributions of what is committed, and check that they can be
    uploaded: a wheel and a source.
    """
    source = folder / "source"
    dist = folder / "dist"
    for old in (source, dist):
        shutil.rmtree(old, ignore_errors=True)
    git("clone", "--quiet", ".", source)
    run(tools, "-m", "build", "--outdir", dist, source)
    run(tools, "-m", "twine", "check", "--strict", *dist.iterdir())
    run(
        tools.with_name("cffconvert"), "--validate", "--infile", source / "CITATION.cff"
    )
    (wheel,) = dist.glob(f"fsel_book-{version}-*.whl")
    (archive,) = dist.glob(f"fsel_book-{version}.tar.gz")
    return wheel, archive


def tried(python: str, versions: str, package: Path) -> list[str]:
    """Run smoke.py where a Python has the oldest or the newest versions; returns the
    row of the table that says so.
    """
    print(f"Trying {package.name} on {python} with the {versions} versions", flush=True)
    bound = [f"--constraint={folder / 'oldest.txt'}"] if versions == "oldest" else []
    built = ["--only-binary=:all:"] if package.suffix == ".whl" else []
    fresh = environment("empty", python, *built, *bound, package)
    done = subprocess.run(
        [fresh, "-I", root / "tools" / "smoke.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(done.stdout, done.stderr)
    ask = (
        f"import importlib.metadata as m, platform as p; print(p.python_version(), "
        f"*map(m.version, {shown}))"
    )
    kind = "wheel" if built else "source"
    return [
        kind,
        versions,
        *run(fresh, "-c", ask).split(),
        "failed" if done.returncode else "passed",
    ]


def runs(python: str) -> bool:
    """Whether there is a program of this name, and it works."""
    return (
        shutil.which(python) is not None
        and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description="All of a release but the upload.")
    usual = [f"python{version}" for version in settings["pythons"].split()]
    arguments.add_argument(
        "pythons",
        metavar="PYTHON",
        nargs="*",
        default=usual,
        help=f"default: {' '.join(usual)}",
    )
    named = arguments.parse_args().pythons
    folder.mkdir(parents=True, exist_ok=True)
    if changes := git("status", "--porcelain"):
        sys.exit(f"A release is made of what is committed, and this is not:\n{changes}")

    version = settings["version"]
    print(f"Building fsel_book {version}", flush=True)
    tools = environment("tools", sys.executable, "build", "twine", "cffconvert")
    wheel, archive = build(tools, version)
    (folder / "oldest.txt").write_text(oldest(), encoding="utf-8")
    there = list(filter(runs, named))
    rows = [["package", "versions", "Python", *shown, "smoke.py"]]
    rows += [
        tried(python, versions, wheel)
        for python in there
        for versions in ("oldest", "newest")
    ]
    rows += [tried(python, "newest", archive) for python in there[:1]]
    print(*("".join(word.ljust(13) for word in row).rstrip() for row in rows), sep="\n")
    for python in named:
        if not runs(python):
            print(f"Not tried: {python}, which does not run here")

    found = obstacles(version)
    if {row[-1] for row in rows[1:]} != {"passed"}:
        found.append("the package was tried nowhere, or does not work everywhere")
    if found:
        sys.exit("Not to be uploaded:\n" + "\n".join(found))
    print(f"Left to do:\n  git tag v{version} && git push origin v{version}")
    print(f"  {tools} -m twine upload {folder / 'dist'}/*")


if __name__ == "__main__":
    main()
