"""`make demo` on tables of one's own, through the script that the Makefile calls, and
each of its errors.
"""

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cases import swept
from sklearn.feature_selection import f_classif
from sklearn.preprocessing import StandardScaler

from fsel_book import BSSSelector

pd = pytest.importorskip("pandas", reason="the demo reads tables with pandas")
pytest.importorskip("papermill", reason="the demo runs its notebook with papermill")
pytest.importorskip(
    "pyarrow", reason="Parquet files are read with pyarrow", exc_type=ImportError
)

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tools"))
import quickstart as quickstart_tool  # noqa: E402
from large import size_in_memory  # noqa: E402

columns = [f"reading {j}" for j in range(12)]


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    frame = pd.DataFrame(X, columns=columns)
    frame["the output"] = X[:, 3] - 2 * X[:, 7] + 0.1 * rng.normal(size=60)
    return frame


def broken():
    """One table for each thing that can be wrong with one: file name, frame or text,
    target.
    """
    good = table()
    dated = good.assign(day="2024-05-17")
    infinite = good.copy()
    infinite.iloc[5, 4] = np.inf
    yield "absent.csv", None, "the output", "no file"
    yield "renamed.csv", good, "outcome", "no column 'outcome'"
    yield "untargeted.csv", good, "", "TARGET does not name"
    yield "dated.csv", dated, "the output", "'day' holds dates"
    yield "infinite.parquet", infinite, "the output", "'reading 4' is infinite in row 6"
    yield (
        "constant.csv",
        good.assign(**{"the output": 1.0}),
        "the output",
        "one value only",
    )
    yield "alone.csv", good[["the output"]], "the output", "no separator"
    yield "one.csv", good[["reading 1", "the output"]], "the output", "at least two"
    yield "empty.csv", "", "the output", "cannot be read"
    yield "torn.parquet", "not a parquet file", "the output", "cannot be read"
    yield "sheet.xlsx", "a spreadsheet", "the output", "cannot be read"
    yield "letter.docx", "a letter", "the output", "ends in .docx"


def write(path, content):
    if isinstance(content, str):
        path.write_text(content)
    elif content is not None:
        content.to_parquet(path) if path.suffix == ".parquet" else content.to_csv(
            path, index=False
        )


def demo(*arguments, cwd, out):
    command = [sys.executable, root / "tools" / "demo.py", *arguments, "--out", out]
    # the checkout, installed or not
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder of the demo's tables, and a function that runs it on one of them,
    once.
    """
    folder = tmp_path_factory.mktemp("demo")
    frame = table()
    frame.to_csv(folder / "numbers.csv", index=False)
    kind = np.where(frame["the output"] > 0, "high", "low")
    frame.drop(columns="the output").assign(kind=kind).to_parquet(
        folder / "kinds.parquet"
    )
    frame[["reading 3", "reading 5", "reading 7", "the output"]].to_csv(
        folder / "narrow.csv", index=False
    )
    calls = {
        "csv": ("numbers.csv", "the output"),
        "parquet": (folder / "kinds.parquet", "kind"),
    }
    calls["narrow"] = ("narrow.csv", "the output")
    for name, content, target, _ in broken():
        write(folder / name, content)
        calls[name] = (name, target)

    @cache
    def done(name):
        out = folder / "out" / name
        out.mkdir(parents=True)
        # what an earlier run left must not pass for the result of a failed one
        (out / "selected.csv").touch()
        return demo(*calls[name], cwd=folder, out=out)

    return folder, done


@swept("kind", ["csv"], ["parquet"])
def test_demo_on_a_table(runs, kind):
    folder, done = runs
    assert done(kind).returncode == 0, done(kind).stderr
    out = folder / "out" / kind
    source = table() if kind == "csv" else pd.read_parquet(folder / "kinds.parquet")
    chosen = pd.read_csv(out / "selected.csv")
    assert list(chosen.columns)[-1] == source.columns[-1]
    assert len(chosen) == len(source)
    assert set(chosen.columns) <= set(source.columns)
    assert 1 <= chosen.shape[1] - 1 <= 6
    pd.testing.assert_frame_equal(
        chosen, source[list(chosen.columns)], check_dtype=False
    )
    assert (out / "selected.parquet").exists() == (kind == "parquet")
    if kind == "parquet":
        pd.testing.assert_frame_equal(
            pd.read_parquet(out / "selected.parquet"), source[list(chosen.columns)]
        )


@pytest.mark.sweep
def test_demo_on_a_table_of_three_features(runs):
    folder, done = runs
    assert done("narrow").returncode == 0, done("narrow").stderr
    n_rows, n_columns = pd.read_csv(folder / "out" / "narrow" / "selected.csv").shape
    assert n_rows == 60 and n_columns <= 3


@swept(("kind", "score"), [("csv", "R²")], [("parquet", "balanced accuracy")])
def test_demo_prints_the_verdict_and_the_columns(runs, kind, score):
    folder, done = runs
    text = " ".join(done(kind).stdout.split())
    for name in pd.read_csv(folder / "out" / kind / "selected.csv").columns[:-1]:
        assert name in text
    for phrase in ("explain", "random", score, "report.html"):
        assert phrase in text
    assert "Traceback" not in done(kind).stderr


@swept("kind", ["csv"], ["parquet"])
def test_demo_leaves_the_report_of_a_table_and_nothing_of_other_data(runs, kind):
    folder, done = runs
    assert done(kind).returncode == 0, done(kind).stderr
    out = folder / "out" / kind
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "src=" not in page and "<script" not in page
    facts = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert facts["n_rows"] == 60 and facts["n_columns"] == 12
    assert not (out / "quickstart.html").exists() and "docstring" not in page


WRONG = {name: says for name, _, _, says in broken()}
FEW = ["untargeted.csv", "dated.csv"]


@swept("name", FEW, [name for name in WRONG if name not in FEW])
def test_demo_refuses_a_bad_table_in_plain_words(runs, name):
    folder, done = runs
    assert done(name).returncode != 0
    assert WRONG[name] in done(name).stderr
    assert name in done(name).stderr
    assert len(done(name).stderr.splitlines()) <= 4, done(name).stderr
    assert list((folder / "out" / name).iterdir()) == [], (
        "a failed run left files that look like results"
    )


@pytest.mark.sweep
def test_target_without_data_is_refused(tmp_path):
    done = demo("", "column", cwd=tmp_path, out=tmp_path / "out")
    assert done.returncode != 0
    assert "names no table" in done.stderr


# ---------------------------------------------------------------- the documents


@pytest.mark.sweep
def test_demo_of_the_documents_leaves_a_page_that_needs_no_network(tmp_path):
    done = demo(cwd=tmp_path, out=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for phrase in ("460 rows, 4744 columns", "60 words", "balanced accuracy"):
        assert phrase in done.stdout
    page = (tmp_path / "out" / "quickstart.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/png;base64') >= 1
    assert "require.min.js" not in page
    assert "unnumbered" not in page and "fig-alt" not in page, (
        "the page shows what only Quarto reads"
    )
    body = re.sub(
        r"<details.*?</details>", " ", page[page.index("<body") :], flags=re.S
    )
    assert not re.findall(r'href="[^"]*\.ipynb', body)
    assert "chapter 5" in html.unescape(re.sub(r"<[^>]+>", " ", body))
    assert (tmp_path / "out" / "quickstart.ipynb").exists()


def test_links_lead_to_the_site_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(quickstart_tool, "site", tmp_path / "site")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "05_spanning.html").touch()
    text = (
        "[chapter 5](05_spanning.ipynb#sec-a), [chapter 6](06_b.ipynb), [Which "
        "when](25_c.ipynb), [others](d.ipynb)"
    )
    linked = quickstart_tool.link_pages(text, tmp_path / "build")
    assert (
        linked == "[chapter 5](../site/05_spanning.html#sec-a), chapter 6, Which when "
        "(chapter 25), others"
    )


# ---------------------------------------------------------------- what make hands on


AWKWARD = [
    "my table.csv",
    "a$b.csv",
    "a$$b.csv",
    "$(shell touch pwned).csv",
    "${HOME}.csv",
    "`touch pwned`.csv",
    "$(touch pwned).csv",
    "; touch pwned",
    "' ; touch pwned ; '",
    "it's.csv",
    'a "b".csv',
    "a,b.csv",
    "a#b.csv",
    "a\\",
    "*",
    "~/ü.csv",
]


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    """A folder with the Makefile where the environment is ready and its Python writes
    down what it is called with.
    """
    folder = tmp_path_factory.mktemp("make")
    for name in ("Makefile", "settings.ini", "setup.py", "pyproject.toml"):
        shutil.copy(root / name, folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    python = folder / ".venv" / "bin" / "python"
    python.write_text(
        f"#!{sys.executable}\nimport json, sys\njson.dump(sys.argv[1:], "
        f'open("called.json", "w"))\n'
    )
    python.chmod(0o755)
    for name in (".python", ".demo"):
        (folder / ".venv" / name).touch()

    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # of a `make test` that runs this
    around = {key: value for key, value in os.environ.items() if key not in outer}

    def called(*arguments, environment=None):
        (folder / "called.json").unlink(missing_ok=True)
        done = subprocess.run(
            ["make", *arguments],
            cwd=folder,
            env={**around, **(environment or {})},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert not (folder / "pwned").exists(), (
            "make or the shell ran what stands in the name of a file"
        )
        if "-n" in arguments:
            return done.stdout.strip()
        return json.loads((folder / "called.json").read_text(encoding="utf-8"))

    return called


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("name", AWKWARD)
def test_make_hands_on_the_names_of_files_and_columns_as_they_are(recipe, name):
    assert recipe("demo", f"DATA={name}", f"TARGET={name}") == [
        "tools/demo.py",
        name,
        name,
    ]
    assert recipe("demo", f"DATA={name}", "TARGET=y", f"LIMIT={name}") == [
        "tools/demo.py",
        name,
        "y",
        "--limit",
        name,
    ]
    dry = recipe("-n", "demo", f"DATA={name}", f"TARGET={name}", f"LIMIT={name}")
    assert shlex.split(dry.splitlines()[-1])[1:] == [
        "tools/demo.py",
        name,
        name,
        "--limit",
        name,
    ]
    variables = {"DATA": name, "TARGET": name, "LIMIT": name}
    assert recipe("-e", "demo", environment=variables) == [
        "tools/demo.py",
        name,
        name,
        "--limit",
        name,
    ]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_without_a_table_runs_the_documents(recipe):
    assert recipe("demo") == ["tools/demo.py", "", ""]


# ---------------------------------------------------------------- tables larger than
# memory


def large_table(n, d):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)) * rng.gamma(2, 1, d) + rng.normal(size=d)
    frame = pd.DataFrame(X, columns=[f"reading {j}" for j in range(d)])
    return frame.assign(
        kind=np.where(X[:, 3] / X[:, 3].std() + rng.normal(size=n) > 0, "yes", "no")
    )


@swept("shape", [(50, 300)], [(900, 30)])
def test_a_file_above_the_limit_is_read_in_blocks(tmp_path, shape):
    """It gives the columns that the same steps give in memory, and the values of the
    table.
    """
    frame = large_table(*shape)
    frame.to_parquet(tmp_path / "large.parquet", row_group_size=37)
    done = demo(
        tmp_path / "large.parquet",
        "kind",
        "--limit",
        "10000",
        cwd=tmp_path,
        out=tmp_path / "out",
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "is read in blocks" in done.stdout and "The promise holds" in done.stdout
    X = StandardScaler().fit_transform(frame.drop(columns="kind"))
    y = frame.kind
    r = min(60, shape[1] // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = BSSSelector(r, score_func=f_classif).fit(X, y).get_support(indices=True)
    expected = frame[[f"reading {j}" for j in kept] + ["kind"]]
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "out" / "selected.parquet"), expected
    )
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out" / "selected.csv"), expected
    )


def with_an_index(frame, kind):
    rng = np.random.default_rng(2)
    if kind == "dates":
        return frame.set_index(
            pd.to_datetime("2024-01-01")
            + pd.to_timedelta(rng.permutation(len(frame)), "D")
        )
    if kind == "named":
        return frame.set_index(pd.Index(rng.permutation(len(frame)), name="id"))
    if kind == "texts":
        return frame.set_index(pd.Index([f"GSM{j}" for j in range(len(frame))]))
    if kind == "two levels":
        return frame.set_index(
            pd.MultiIndex.from_product(
                [range(10), range(len(frame) // 10)], names=["who", None]
            )
        )
    if kind == "from 5":
        return frame.set_index(pd.RangeIndex(5, 5 + len(frame)))
    return frame.assign(**{"Unnamed: 0": rng.permutation(len(frame))})[
        ["Unnamed: 0", *frame.columns]
    ]


@swept(
    "kind",
    ["dates"],
    ["named", "texts", "two levels", "from 5", "first column without a name"],
)
def test_names_of_rows_are_no_feature_above_the_limit_either(tmp_path, kind):
    """The index of the table is that of `selected.parquet`, as it is below the limit."""
    frame = with_an_index(large_table(60, 40).assign(visits=np.arange(60) % 7), kind)
    frame.to_parquet(tmp_path / "large.parquet")
    done = demo(
        tmp_path / "large.parquet",
        "kind",
        "--limit",
        "1000",
        cwd=tmp_path,
        out=tmp_path / "out",
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "60 rows, 41 columns" in done.stdout
    assert ("Its rows have names" in done.stdout) == (kind != "from 5")
    written = pd.read_parquet(tmp_path / "out" / "selected.parquet")
    assert "Unnamed: 0" not in written.columns and written.columns[-1] == "kind"
    expected = frame[list(written.columns)]
    pd.testing.assert_frame_equal(written, expected)
    csv = pd.read_csv(tmp_path / "out" / "selected.csv")
    pd.testing.assert_frame_equal(csv, expected.reset_index(drop=True))


def test_a_target_in_the_index_is_found_above_the_limit_too(tmp_path):
    frame = large_table(60, 40)
    frame.set_index("kind").to_parquet(tmp_path / "large.parquet")
    done = demo(
        tmp_path / "large.parquet",
        "kind",
        "--limit",
        "1000",
        cwd=tmp_path,
        out=tmp_path / "out",
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    written = pd.read_parquet(tmp_path / "out" / "selected.parquet")
    pd.testing.assert_frame_equal(written, frame[list(written.columns)])


def test_the_size_of_a_table_is_that_of_its_numbers(tmp_path):
    """A column of few values takes next to nothing in the file, and is decoded all the
    same.
    """
    frame = pd.DataFrame(
        {"value": np.zeros(10**6), "flag": True, "count": np.int16(3), "kind": "yes"}
    )
    frame.to_parquet(tmp_path / "small.parquet", index=False)
    assert (tmp_path / "small.parquet").stat().st_size < 10**6
    assert size_in_memory(tmp_path / "small.parquet") == 10**6 * (8 + 1 + 2 + 8)
    (tmp_path / "torn.parquet").write_text("not a parquet file")
    assert (
        size_in_memory(tmp_path / "torn.parquet")
        == size_in_memory(tmp_path / "absent.parquet")
        == 0
    )


LARGE_AND_BAD = {
    "target": (lambda frame: frame, "sort", "no column 'sort'"),
    "text": (
        lambda frame: frame.assign(town="Lund"),
        "kind",
        "town is no column of numbers",
    ),
    "missing": (
        lambda frame: frame.mask(frame == frame.iloc[7, 2]),
        "kind",
        "missing values",
    ),
    "infinite": (
        lambda frame: frame.replace(frame.iloc[7, 2], np.inf),
        "kind",
        "infinite values in 'reading 2'",
    ),
    "constant": (lambda frame: frame.assign(kind=1.0), "kind", "two different values"),
    "names": (
        lambda frame: frame.assign(kind=[f"GSM{j}" for j in range(len(frame))]),
        "kind",
        "five rows",
    ),
    "without a name": (
        lambda frame: frame.assign(**{"Unnamed: 7": 1.0}),
        "kind",
        "has no name",
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", LARGE_AND_BAD)
def test_a_bad_table_above_the_limit_is_refused_and_leaves_nothing(tmp_path, name):
    change, target, words = LARGE_AND_BAD[name]
    change(large_table(50, 300)).to_parquet(tmp_path / "large.parquet")
    done = demo(
        tmp_path / "large.parquet",
        target,
        "--limit",
        "10000",
        cwd=tmp_path,
        out=tmp_path / "out",
    )
    assert (
        done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr
    )
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.sweep
def test_where_the_result_cannot_be_written_nothing_is_left(tmp_path):
    """The process may write files of 4 kB only, which ends a write as a full disk does:
    with an OSError.
    """
    resource = pytest.importorskip(
        "resource", reason="limits of a process are a matter of POSIX"
    )
    large_table(900, 30).to_parquet(tmp_path / "large.parquet")
    code = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, "
        "(4096, 4096)); "
        "sys.argv = sys.argv[1:]; sys.path.insert(0, "
        "str(__import__('pathlib').Path(sys.argv[0]).parent)); "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    assert resource.RLIMIT_FSIZE >= 0
    command = [
        sys.executable,
        "-c",
        code,
        root / "tools" / "demo.py",
        tmp_path / "large.parquet",
        "kind",
    ]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [*command, "--limit", "10000", "--out", tmp_path / "out"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (
        done.returncode == 1
        and "demo: " in done.stderr
        and "File too large" in done.stderr
    ), done.stderr
    assert not list((tmp_path / "out").iterdir())
