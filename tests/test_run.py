"""What `make run` stores: noise changes nothing, and all else is stored as it came."""

import base64
import importlib.util
import io
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from PIL import Image, PngImagePlugin

root = Path(__file__).resolve().parent.parent
sys.path.append(str(root / "tools"))
spec = importlib.util.spec_from_file_location("run_notebooks", root / "tools/run.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

TABLE = """
method    time  times one product  sine
one      13 ms                1.0  0.55
another   9 ms                0.7  0.51
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("eps 0.53812345", "eps 0.53812347"),
        ("[0.46212345, 1.17]\nn = 60", "[0.46212347, 1.17]\nn = 60"),
        ("<td>0.53812345</td>", "<td>0.53812347</td>"),
        ("sine 9.4e-16", "sine 1.0e-15"),
        ("error -0.0", "error 0.0"),
        ("fit 0.053 s, 3.5 times", "fit 0.071 s, 4.3 times"),
        ("l=60: 0.21 s as printed, 8 times", "l=60: 0.25 s as printed, 11 times"),
        ("rule first:   9.2 ms, best", "rule first:  10.1 ms, best"),
        ("solver  seconds\nlbfgs     0.018", "solver  seconds\nlbfgs     0.025"),
        (TABLE, TABLE.replace(" 9 ms", "12 ms").replace(" 1.0", " 1.3")),
    ],
)
def test_texts_that_say_the_same(old, new):
    assert old != new and tool.same_text(old, new) and tool.same_text(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("eps 0.538", "eps 0.539"),
        ("eps 0.5381234", "eps 0.5381244"),
        ("sine 9.4e-08", "sine 1.0e-07"),
        ("n = 1000000", "n = 1000001"),
        ("n = 1", "n = 1.0"),
        ("eps 0.538", "Eps 0.538"),
        ("eps 0.538", "eps  0.538"),
        ("a=0.538", "a = 0.538"),
        ("9.53812345e-3", "9.53812347e-4"),
        ("0.5 0.6", "0.5 0.6 0.7"),
        ("fit 0.053 s", "fit 0.120 s"),
        ("fit 0.053 s", "fit 0.053 ms"),
        ("fit 0.053 s of 60", "fit 0.053 s of 61"),
        ("3.5 times as many", "4.3 times as many"),
        ("the time of all of these\nis 3.5", "the time of all of these\nis 3.6"),
        ("solver  seconds\n\nlbfgs     0.018", "solver  seconds\n\nlbfgs     0.025"),
        (TABLE, TABLE.replace("0.55", "0.56")),
        (TABLE, TABLE.replace("0.7", "1.5")),
        (TABLE, TABLE.replace("another", "a third")),
    ],
)
def test_texts_that_say_something_else(old, new):
    assert not tool.same_text(old, new) and not tool.same_text(new, old)


def drawn(height=1.0, width=1.0, color="k", title="of $x$", shade=0.0, ground="none"):
    """A picture with a curve, marks, a clipped image and words, as a cell stores it."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(4, 2))
    left.plot([0, 1, 2], [0, height, 0.5], "o-", color=color, linewidth=width)
    left.set(title=title, xlim=(0, 2), ylim=(0, 2))
    right.imshow(np.linspace(0, 1, 12).reshape(3, 4) * (1 - shade), vmin=0, vmax=1)
    left.set_position([0.1 + 1e-12 * (height != 1), 0.15, 0.35, 0.7])
    file = io.BytesIO()
    fig.savefig(file, format="png", facecolor=ground)
    plt.close(fig)
    return base64.b64encode(file.getvalue()).decode()


def output(data):
    words = {"text/plain": "<Figure size 400x200 with 2 Axes>"}
    return nbformat.v4.new_output("display_data", data={"image/png": data, **words})


def test_a_picture_that_rounding_changed_is_kept():
    old, new = (output(drawn(height)) for height in (1.0, 1.0 + 1e-4))
    new.metadata["needs_background"] = "light"
    assert old != new
    (found,) = tool.kept([old], [new])
    assert found is old


def test_a_slim_picture_looks_like_the_full_one():
    full = drawn(ground="white")
    slim = tool.slim(full)
    assert len(slim) < 0.6 * len(full)
    one, other = (
        np.asarray(
            Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"), dtype=int
        )
        for data in (full, slim)
    )
    apart = np.abs(one - other).max(axis=2)
    assert one.shape == other.shape and apart.max() <= 64
    assert np.mean(apart > 10) <= 1e-3
    # many colours, and no ground: not to be touched where it would show
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "png")
    kept = tool.slim(base64.b64encode(file.getvalue()).decode())
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(kept))).convert("RGB"))
    assert np.array_equal(pixels, noise)
    assert tool.slim(drawn()) == drawn()


@pytest.mark.parametrize(
    "change",
    [
        {"height": 1.05},
        {"width": 1.6},
        {"color": "#000099"},
        {"title": "of $y$"},
        {"shade": 0.3},
    ],
)
def test_a_picture_of_something_else_is_stored(change):
    old, new = output(drawn()), output(drawn(**change))
    (found,) = tool.kept([old], [new])
    assert found is new


def test_pixels_are_compared_whatever_the_file_says_beside_them():
    old = drawn()
    picture = Image.open(io.BytesIO(base64.b64decode(old)))
    pixels = np.array(picture)
    pixels[..., :3][pixels[..., 3] == 0] = 99  # what is transparent shows no colour
    pixels[10, 10] ^= 2
    words, file = PngImagePlugin.PngInfo(), io.BytesIO()
    words.add_text("Software", "another version")
    Image.fromarray(pixels).save(file, "png", pnginfo=words, compress_level=1)
    new = base64.encodebytes(file.getvalue()).decode()
    assert tool.same_pixels(old, new)
    smaller = io.BytesIO()
    picture.crop((0, 0, 100, 100)).save(smaller, "png")
    assert not tool.same_pixels(old, base64.b64encode(smaller.getvalue()).decode())


def test_outputs_of_other_kinds_or_number_are_stored():
    stream = nbformat.v4.new_output("stream", name="stdout", text="0.5\n")
    error = nbformat.v4.new_output("stream", name="stderr", text="0.5\n")
    html = {"text/html": "<b>1</b>", "text/plain": "1"}
    full = nbformat.v4.new_output("execute_result", data=html)
    plain = nbformat.v4.new_output("execute_result", data={"text/plain": "1"})
    assert tool.kept([stream], [error]) == [error]
    assert tool.kept([full], [plain]) == [plain]
    assert tool.kept([stream, full], [stream]) == [stream]
    assert tool.kept([], [full]) == [full]


CELLS = [
    "import os, time\n"
    "import matplotlib.pyplot as plt\n"
    "print(os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS'])",
    "print(f'took {time.get_clock_info(\"time\").resolution + 0.1:.7f} s')",
    "print(1 / 3)",
    "plt.plot([0, 1], [0, 1 / 3]);",
]


def test_a_changed_comment_changes_one_line(tmp_path, monkeypatch):
    """With one thread, however many there are, unless the environment says more."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    path = tmp_path / "small.ipynb"
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    tool.run(path, heavy=False)
    given = path.read_text(encoding="utf-8")
    assert "1 2\\n" in given

    # As another machine would have stored it.
    stored = re.sub(r"took 0\.\d+", "took 0.0812345", given)
    stored = stored.replace("0.3333333333333333", "0.3333333333333328")
    stored = stored.replace('"print(1 / 3)"', '"print(1 / 3)  # a third"')
    assert "0.3333333333333328" in stored and "took 0.0812345 s" in stored
    path.write_text(stored, encoding="utf-8")
    tool.run(path, heavy=False)
    assert path.read_text(encoding="utf-8") == stored

    tool.run(path, heavy=False, fresh=True)
    found = path.read_text(encoding="utf-8")
    assert "0.3333333333333333" in found


def test_a_picture_that_moves_is_not_stored(tmp_path):
    path = tmp_path / "small.ipynb"
    source = "from ipywidgets import interact\ninteract(lambda r: print(r), r=(1, 9));"
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": ["live"]})
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    for heavy in (False, True):
        tool.run(path, heavy=heavy)
        stored = nbformat.read(path, 4)
        assert stored.cells[0].outputs == [] and "widgets" not in stored.metadata
