"""The generators against their recipes, and the loaders against files and downloads that are damaged or wrong."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from cases import needs_data
from scipy.special import ndtr
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from fsel_book import datasets
from fsel_book.datasets import (
    load_dataset,
    load_docstrings,
    load_techtc,
    make_bhattacharyya,
    make_bhattacharyya_regression,
    make_collinear_regression,
    make_linear_regression,
    make_linear_sign,
    make_nested_cube,
    make_nested_square,
    make_nonlinear_regression,
)

# function, default shape, number of relevant features, whether y holds classes
GENERATORS = [
    (make_bhattacharyya, (30, 1000), 90, True),
    (make_bhattacharyya_regression, (30, 1000), 90, False),
    (make_linear_sign, (100, 15), 4, True),
    (make_linear_regression, (100, 15), 4, False),
    (make_nested_square, (100, 10), 2, True),
    (make_nested_cube, (100, 50), 3, True),
    (make_nonlinear_regression, (100, 10), 2, False),
    (make_collinear_regression, (100, 50), 3, False),
]
every_generator = pytest.mark.parametrize(("make", "shape", "k", "classes"), GENERATORS)
SIZED = [make_bhattacharyya, make_bhattacharyya_regression, make_linear_sign, make_linear_regression]


# ---------------------------------------------------------------- generators: form


@every_generator
def test_defaults_have_the_papers_shape(make, shape, k, classes):
    X, y, relevant = make(random_state=0)
    assert X.shape == shape and X.dtype == np.float64 and y.shape == shape[:1]
    assert relevant.dtype == np.int64 and relevant.tolist() == list(range(k))
    assert np.isfinite(X).all() and np.isfinite(y).all()
    if classes:
        assert y.dtype == np.int64 and set(y.tolist()) == {-1, 1}
    else:
        assert y.dtype == np.float64


@every_generator
def test_same_seed_same_data(make, shape, k, classes):
    first, second = make(random_state=7), make(random_state=np.random.RandomState(7))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    other = make(random_state=8)
    assert not np.array_equal(first[0], other[0])
    rng = np.random.RandomState(7)
    assert not np.array_equal(make(random_state=rng)[0], make(random_state=rng)[0])


@every_generator
@pytest.mark.parametrize("bad", [0, -3, 2.5, "ten", None, True])
def test_sizes_that_are_none(make, shape, k, classes, bad):
    for name in ("n_samples", "n_features"):
        with pytest.raises(ValueError, match=rf"^{name}={bad!r}: expected an integer of at least \d"):
            make(**{name: bad})


@pytest.mark.parametrize("make", SIZED)
def test_more_relevant_features_than_features(make):
    with pytest.raises(ValueError, match=r"^n_informative=6: .* at most n_features=5"):
        make(10, 5, 6)
    with pytest.raises(ValueError, match=r"^n_informative=0: "):
        make(10, 5, 0)
    X, _, relevant = make(1, 5, np.int64(5), random_state=0)  # NumPy's integers are integers, and 5 of 5 is allowed
    assert X.shape == (1, 5) and len(relevant) == 5


def test_boxes_and_products_need_their_relevant_features():
    for make, least in (
        (make_nested_square, 2),
        (make_nonlinear_regression, 2),
        (make_nested_cube, 3),
        (make_collinear_regression, 3),
    ):
        assert make(4, least)[0].shape == (4, least)
        with pytest.raises(ValueError, match=f"^n_features={least - 1}: expected an integer of at least {least}"):
            make(4, least - 1)


@pytest.mark.parametrize(
    ("make", "name", "bad", "says"),
    [
        (make_bhattacharyya_regression, "noise", -0.1, "at least 0"),
        (make_linear_regression, "noise", float("nan"), "at least 0"),
        (make_linear_regression, "noise", "loud", "at least 0"),
        (make_linear_sign, "effect_sizes", (), "positive finite"),
        (make_linear_sign, "effect_sizes", (0.5, -1), "positive finite"),
        (make_linear_regression, "effect_sizes", (0.5, float("inf")), "positive finite"),
        (make_linear_regression, "effect_sizes", [[0.5], [1]], "positive finite"),
        (make_nested_cube, "correlation", 1, "below 1"),
        (make_nested_cube, "correlation", -0.1, "at least 0"),
        (make_collinear_regression, "correlation", None, "below 1"),
        (make_nonlinear_regression, "a1", 0, "above 0"),
        (make_nonlinear_regression, "a2", 0.5, "denominator vanishes"),
        (make_nonlinear_regression, "a2", 0, "above 0"),
        (make_collinear_regression, "a2", 0.8, "denominator vanishes"),
        (make_collinear_regression, "a3", -2, "above 0"),
        (make_collinear_regression, "a4", 2 ** (-1 / 3), "denominator vanishes"),
    ],
)
def test_parameters_out_of_range(make, name, bad, says):
    with pytest.raises(ValueError, match=f"(?s)^{name}=.*{says}"):
        make(**{name: bad})


def test_bad_random_state():
    with pytest.raises(ValueError, match="cannot be used to seed"):
        make_bhattacharyya(random_state="seed")


# ---------------------------------------------------------------- generators: law
# An average of n independent numbers of standard deviation s is further than 5 s / sqrt(n) from its mean
# in about one of two million cases; the seeds are fixed, so a failure means a change.


def test_bhattacharyya_has_the_printed_means_and_variances():
    n = 4000
    X, y, _ = make_bhattacharyya(n, 40, 30, random_state=0)
    turned = X * y[:, None]
    mean = np.r_[-np.arange(1, 31), np.zeros(10)]
    assert np.abs(turned.mean(axis=0) - mean).max() < 5 / np.sqrt(n)
    assert np.abs(turned.var(axis=0) - 1).max() < 5 * np.sqrt(2 / n)
    assert abs(y.mean()) < 5 / np.sqrt(n)
    rest = np.corrcoef((turned - mean).T) - np.eye(40)
    assert np.abs(rest).max() < 5 / np.sqrt(n)


def test_bhattacharyya_bayes_error_of_a_group():
    n, group = 200000, [0, 1]
    X, y, _ = make_bhattacharyya(n, 3, 2, random_state=0)
    error = (np.sign(-X[:, group] @ [1, 2]) != y).mean()
    expected = ndtr(-np.sqrt(5))
    assert abs(error - expected) < 5 * np.sqrt(expected / n)


def test_bhattacharyya_regression_noise_is_drawn_last():
    n = 3000
    X, y, _ = make_bhattacharyya_regression(n, 20, 5, noise=2.0, random_state=3)
    same, z, _ = make_bhattacharyya_regression(n, 20, 5, noise=0, random_state=3)
    assert np.array_equal(X, same)
    assert abs((y - z).std() - 2) < 2 * 5 / np.sqrt(2 * n)
    beta = np.linalg.lstsq(X, z)[0]
    assert np.allclose(X @ beta, z, rtol=1e-9, atol=1e-8 * np.abs(z).max())
    assert (np.abs(beta) > 1e-6).all(), "every feature has a coefficient"
    coefficients = [
        np.linalg.lstsq(*make_bhattacharyya_regression(25, 20, 5, noise=0, random_state=s)[:2])[0] for s in range(200)
    ]
    assert abs(np.mean(coefficients)) < 5 / np.sqrt(4000) and abs(np.var(coefficients) - 1) < 5 * np.sqrt(2 / 4000)


def test_linear_sign_is_the_sign_of_a_plane():
    n = 20000
    X, y, relevant = make_linear_sign(n, 8, 3, effect_sizes=0.7, random_state=0)
    assert np.abs(X).max() <= 1 and np.abs(X.mean(axis=0)).max() < 5 * np.sqrt(1 / 3 / n)
    assert np.abs(X.var(axis=0) - 1 / 3).max() < 5 * np.sqrt(4 / 45 / n)
    assert np.array_equal(y, np.where(X[:, relevant].sum(axis=1) >= 0, 1, -1))
    assert abs(y.mean()) < 5 / np.sqrt(n)


def test_linear_coefficients_come_evenly_from_the_list():
    counts = {0.5: 0, 1.0: 0}
    for seed in range(300):
        X, y, relevant = make_linear_regression(20, 6, 4, noise=0, random_state=seed)
        for w in np.linalg.lstsq(X, y)[0][relevant]:
            counts[round(w, 6)] += 1
    assert abs(counts[0.5] - 600) < 5 * np.sqrt(1200 / 4)
    X, y, relevant = make_linear_regression(20, 6, 4, noise=0, random_state=0)
    assert np.abs(np.linalg.lstsq(X, y)[0][4:]).max() < 1e-12


def test_linear_regression_noise_has_one_third():
    n = 20000
    X, y, _ = make_linear_regression(n, 15, 4, random_state=0)
    _, clean, _ = make_linear_regression(n, 15, 4, noise=0, random_state=0)
    assert abs((y - clean).var() - 1 / 9) < 5 * np.sqrt(2 / n) / 9
    assert abs((y - clean).mean()) < 5 / 3 / np.sqrt(n)


def test_nested_square():
    n = 40000
    X, y, _ = make_nested_square(n, 4, random_state=0)
    assert np.abs(X).max() <= 2 and np.abs(X.var(axis=0) - 4 / 3).max() < 0.03
    inside = (np.abs(X[:, 0]) <= 1) & (np.abs(X[:, 1]) <= 1)
    assert np.array_equal(y == 1, inside) and abs(inside.mean() - 1 / 4) < 5 * np.sqrt(3 / 16 / n)
    assert np.abs(np.corrcoef(X.T, y)[-1, :-1]).max() < 5 / np.sqrt(n)


@pytest.mark.parametrize("q", [0, 0.3, 0.9])
def test_nested_cube_is_uniform_correlated_and_balanced(q):
    n = 40000
    X, y, _ = make_nested_cube(n, 5, correlation=q, random_state=0)
    h = 2 ** (1 / 3)
    assert np.abs(X).max() <= h
    for column in X.T:  # Kolmogorov's distance to the uniform: above 2.5 / sqrt(n) in about 7 of a million cases
        distance = np.abs((np.sort(column) / h + 1) / 2 - (np.arange(n) + 0.5) / n).max()
        assert distance < 2.5 / np.sqrt(n)
    target = np.eye(5)
    target[:3, :3] = [[1, q, -q], [q, 1, -q], [-q, -q, 1]]
    assert np.abs(np.corrcoef(X.T) - target).max() < 5 / np.sqrt(n)
    assert np.array_equal(y == 1, (np.abs(X[:, :3]) <= 1).all(axis=1))
    if q == 0:
        assert abs((y == 1).mean() - 1 / 2) < 5 / 2 / np.sqrt(n)
    else:
        assert (y == 1).mean() > 1 / 2 + 5 / 2 / np.sqrt(n)
    assert np.abs(np.corrcoef(X.T, y)[-1, :-1]).max() < 5 / np.sqrt(n)


def test_the_correlation_is_that_of_the_features_not_of_the_normals():
    """A normal correlation of 0.5 would give the uniforms (6 / pi) arcsin(0.25) = 0.483."""
    X, _, _ = make_nested_cube(400000, 3, correlation=0.5, random_state=0)
    assert np.abs(np.corrcoef(X.T)[0, 1:] - [0.5, -0.5]).max() < 5 / np.sqrt(400000)


def test_nonlinear_regressions_are_the_printed_formulas():
    X, y, _ = make_nonlinear_regression(50, a1=2.0, a2=0.3, random_state=0)
    assert np.abs(X).max() <= 2
    assert np.allclose(y, [2 * x[0] * x[1] / (1 + 0.3 * x[0]) ** 2 for x in X], rtol=1e-12)
    X, y, _ = make_collinear_regression(50, a1=1, a2=0.2, a3=3, a4=0.7, random_state=0)
    by_hand = [x[0] * x[1] / (1 + 0.2 * x[0]) ** 2 + 3 * x[1] * x[2] / (1 + 0.7 * x[1]) ** 2 for x in X]
    assert np.allclose(y, by_hand, rtol=1e-12)
    cube, _, _ = make_nested_cube(50, correlation=0.3, random_state=0)
    assert np.array_equal(X, cube), "the regression and the classes share their features"


# ---------------------------------------------------------------- docstrings


def test_docstrings_form():
    docs = load_docstrings()
    n, d = docs.data.shape
    assert isinstance(docs.data, scipy.sparse.csr_array) and docs.data.dtype == np.float64
    assert docs.data.has_canonical_format and docs.data.indices.dtype == np.int32
    assert docs.target.shape == docs.document_names.shape == (n,) and docs.feature_names.shape == (d,)
    assert docs.target.dtype == np.int64 and docs.target_names.tolist() == ["scipy.stats", "scipy.signal"]
    assert 400 < n < 560 and 4000 < d < 6000, "the size moves with SciPy, but not that far"
    assert (np.diff(docs.target) >= 0).all() and docs.target.max() == 1
    assert docs.feature_names.tolist() == sorted(set(docs.feature_names.tolist()))
    assert all(len(word) >= 5 and word.isalpha() and word == word.lower() for word in docs.feature_names)
    assert (docs.data.data >= 1).all() and (docs.data.data % 1 == 0).all()
    for name, side in zip(docs.document_names, docs.target, strict=True):
        assert name.startswith(str(docs.target_names[side]) + ".")
    assert docs.DESCR


def write_module(folder, name, text):
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return name


def test_docstrings_rule_on_small_modules(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    a = write_module(
        tmp_path,
        "fsel_toy_a",
        '''
import os
__all__ = ["zeta", "alpha", "alias", "number", "os", "silent", "Both", "short"]
def zeta():
    """Matrix matrix_norm, MATRIX2 and Ångström; tiny words."""
def alpha():
    """Eigenvalue problem."""
alias = alpha
number = 3.0
def silent(): pass
def short():
    """Is it so?"""
class Both:
    """Shared docstring."""
def hidden():
    """Invisible because it is missing from the list."""
''',
    )
    b = write_module(
        tmp_path,
        "fsel_toy_b",
        '''
__all__ = ["Both", "filter_"]
class Both:
    """Shared docstring."""
def filter_():
    """Filter the problem."""
''',
    )
    docs = load_docstrings(a, b)
    assert docs.document_names.tolist() == [f"{a}.alias", f"{a}.zeta", f"{b}.filter_"]
    assert docs.feature_names.tolist() == ["eigenvalue", "filter", "matrix", "problem", "words", "ångström"]
    assert docs.data.toarray().tolist() == [[1, 0, 0, 1, 0, 0], [0, 0, 3, 0, 1, 1], [0, 1, 0, 1, 0, 0]]
    assert docs.target.tolist() == [0, 0, 1]


def test_docstrings_errors(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="^module_b='scipy.nonsense': cannot be imported"):
        load_docstrings("scipy.stats", "scipy.nonsense")
    for bad in (None, "", 3, "..scipy"):
        with pytest.raises(ImportError, match="^module_a=.*Expected the name of an installed module"):
            load_docstrings(bad)
    with pytest.raises(ValueError, match="^module_a='fsel_toy_c': has no __all__"):
        load_docstrings(write_module(tmp_path, "fsel_toy_c", "x = 1"))
    with pytest.raises(ValueError, match="^module_b='fsel_toy_d': has no docstring of its own"):
        load_docstrings("scipy.stats", write_module(tmp_path, "fsel_toy_d", "__all__ = ['f']\ndef f(): pass\n"))
    with pytest.raises(ValueError, match="^module_a='scipy.signal': has no docstring of its own"):
        load_docstrings("scipy.signal", "scipy.signal")


# ---------------------------------------------------------------- files: small stand-ins for the known sets


SPARSE = scipy.sparse.csr_array(np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 4], [0, 0, 5, 0]]))


def csr_parts(**changes):
    parts = dict(
        data=SPARSE.data,
        indices=SPARSE.indices,
        indptr=SPARSE.indptr,
        shape=np.array(SPARSE.shape),
        y=np.array([1, 2, 1, 2]),
    )
    return {key: np.asarray(value) for key, value in (parts | changes).items() if value is not None}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A data folder with three small sets that `load_dataset` knows for the time of one test."""
    sets = {
        "dense": datasets._Set((4, 3), {"a": 3, "b": 1}, 66, "small and dense"),
        "sparse": datasets._Set((4, 4), {1: 2, 2: 2}, 15, "small and sparse"),
        "words": datasets._Set((3,), {-1: 2, 1: 1}, 12, "three sequences"),
        "merged": datasets._Set((2, 3), {-1: 1, 1: 1}, 15, "the first half of a download", (7, 4, 0)),
        "second": datasets._Set((2, 3), {-1: 1, 1: 1}, 51, "the second half of a download", (7, 4, 2)),
    }
    monkeypatch.setattr(datasets, "_SETS", sets)
    monkeypatch.setenv("FSEL_BOOK_DATA", str(tmp_path))
    np.savez_compressed(
        tmp_path / "dense.npz",
        X=np.arange(12, dtype=np.int16).reshape(4, 3),
        y=np.array(list("aaba")),
        feature_names=np.array(["u", "v", "w"]),
        is_train=np.array([True, True, False, False]),
    )
    np.savez_compressed(tmp_path / "sparse.npz", **csr_parts())
    (tmp_path / "words.csv").write_text("sequence,label\nACGT,-1\nxYZ,1\nMNOPQ,-1\n")
    return tmp_path


def test_small_sets_load_whole(shelf):
    dense, sparse, words = map(load_dataset, ("dense", "sparse", "words"))
    assert dense.data.dtype == np.float64 and dense.data.tolist() == np.arange(12).reshape(4, 3).tolist()
    assert dense.target.tolist() == list("aaba") and dense.feature_names.tolist() == ["u", "v", "w"]
    assert dense.is_train.tolist() == [True, True, False, False]
    assert isinstance(sparse.data, scipy.sparse.csr_array) and sparse.data.dtype == np.float64
    assert (sparse.data != SPARSE).nnz == 0 and sparse.feature_names is None
    assert words.data == ["ACGT", "xYZ", "MNOPQ"] and words.target.tolist() == [-1, 1, -1]
    assert all(isinstance(sequence, str) for sequence in words.data)
    assert all("small" in b.DESCR or "sequences" in b.DESCR for b in (dense, sparse, words))


def test_line_ends_of_other_systems(shelf):
    (shelf / "words.csv").write_bytes(b"sequence,label\r\nACGT,-1\r\nxYZ,1\r\nMNOPQ,-1")
    assert load_dataset("words").data == ["ACGT", "xYZ", "MNOPQ"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_stay_as_stored(shelf, dtype):
    np.savez(shelf / "dense.npz", X=np.arange(12, dtype=dtype).reshape(4, 3), y=np.array(list("aaba")))
    assert load_dataset("dense").data.dtype == dtype


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_an_npz_file_cut_anywhere_is_refused(shelf, name):
    path = shelf / f"{name}.npz"
    whole = path.read_bytes()
    for keep in range(len(whole)):
        path.write_bytes(whole[:keep])
        with pytest.raises(ValueError) as caught:
            load_dataset(name)
        assert str(caught.value).startswith(f"{path}: "), keep


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_an_npz_file_with_a_wrong_byte_is_right_or_refused(shelf, name):
    """A flipped byte may sit where nothing reads it (a date, say); it must never change what is read."""
    path, good = shelf / f"{name}.npz", load_dataset(name)
    whole = bytearray(path.read_bytes())
    refused = 0
    for at in range(0, len(whole), 3):
        bad = whole.copy()
        bad[at] ^= 0x55
        path.write_bytes(bad)
        try:
            got = load_dataset(name)
        except ValueError as error:
            assert str(error).startswith(f"{path}: "), at
            refused += 1
        else:
            assert abs(got.data - good.data).max() == 0 and np.array_equal(got.target, good.target), at
    assert refused > len(whole) / 3 / 3


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04", b"\x80\x04K\x01."])
def test_a_file_that_is_no_archive(shelf, content):
    (shelf / "dense.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"dense\.npz: not a whole \.npz file .*Copy or download it again"):
        load_dataset("dense")


def test_pickles_are_refused(shelf):
    np.savez(shelf / "dense.npz", X=np.array([[1, None]], dtype=object), y=np.array(["a"]))
    with pytest.raises(ValueError, match=r"dense\.npz: not a whole \.npz file .*allow_pickle"):
        load_dataset("dense")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (dict(indptr=SPARSE.indptr[[0, 2, 1, 4, 3]]), "do not ascend"),
        (dict(indptr=SPARSE.indptr[::-1]), "do not ascend from 0"),
        (dict(indptr=SPARSE.indptr[:-1]), "4 row limits for 4 rows"),
        (dict(indptr=np.append(SPARSE.indptr[:-1], 4)), "indptr ends at 4 but there are 5 values"),
        (dict(indptr=np.append(SPARSE.indptr[:-1], 6)), "indptr ends at 6"),
        (dict(indptr=SPARSE.indptr.astype(float)), "indptr holds float64"),
        (dict(indices=SPARSE.indices + 1), r"outside 0\.\.3"),
        (dict(indices=SPARSE.indices - 1), r"outside 0\.\.3"),
        (dict(indices=SPARSE.indices[:-1]), "4 indices for 5 values"),
        (dict(indices=SPARSE.indices[[1, 0, 2, 3, 4]]), "within a row do not ascend"),
        (dict(indices=[1, 1, 0, 3, 2]), "within a row do not ascend"),
        (dict(indices=SPARSE.indices.astype(float)), "indices holds float64"),
        (dict(data=SPARSE.data[:-1]), "5 indices for 4 values"),
        (dict(data=[1, 2, np.nan, 4, 5]), r"data\[2\] is nan"),
        (dict(data=SPARSE.data.astype(str)), "data holds <U"),
        (dict(shape=[4, 2]), r"outside 0\.\.1"),
        (dict(shape=[3, 4]), "5 row limits for 3 rows"),
        (dict(shape=[4, 4, 1]), "not a pair of sizes"),
        (dict(shape=[-4, 4]), "not a pair of sizes"),
        (dict(shape=[4, 5]), r"shape \(4, 5\), but sparse has \(4, 4\)"),
        (dict(data=[2, 1, 3, 4, 6]), "add up to 16, but those of sparse to 15"),
        (dict(y=[1, 2, 1]), r"y has shape \(3,\)"),
        (dict(y=[[1], [2], [1], [2]]), r"y has shape \(4, 1\)"),
        (dict(y=[1, 1, 1, 2]), "labels {1: 3, 2: 1}, but sparse has {1: 2, 2: 2}"),
        (dict(y=[1.0, np.nan, 1, 2]), r"y\[1\] is nan"),
        (dict(y=None), "lacks y"),
        (dict(indptr=None, shape=None), "lacks indptr, shape"),
    ],
)
def test_a_csr_file_whose_parts_do_not_fit(shelf, changes, says):
    np.savez(shelf / "sparse.npz", **csr_parts(**changes))
    with pytest.raises(ValueError, match=rf"^{shelf}/sparse\.npz: .*{says}"):
        load_dataset("sparse")


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        (dict(X=[[0, 1, 2], [3, 4, np.nan], [6, 7, 8], [9, 10, 11]]), r"X\[1, 2\] is nan"),
        (dict(X=[[0, 1, 2], [3, 4, 5], [6, -np.inf, 8], [9, 10, 11]]), r"X\[2, 1\] is -inf"),
        (dict(X=np.arange(12).reshape(4, 3).astype(complex)), "X holds complex128"),
        (dict(X=np.arange(12).reshape(4, 3).astype(str)), "X holds <U"),
        (dict(X=np.arange(12)), "X has 1 dimensions"),
        (dict(X=np.arange(9).reshape(3, 3)), r"y has shape \(4,\)"),
        (dict(X=np.arange(8).reshape(4, 2)), r"shape \(4, 2\), but dense has \(4, 3\)"),
        (dict(X=np.arange(1, 13).reshape(4, 3)), "add up to 78, but those of dense to 66"),
        (dict(y=list("abba")), "labels"),
        (dict(feature_names=["u", "v"]), r"feature_names has shape \(2,\)"),
        (dict(is_train=[True]), r"is_train has shape \(1,\)"),
    ],
)
def test_a_dense_file_with_wrong_arrays(shelf, arrays, says):
    good = dict(X=np.arange(12).reshape(4, 3), y=np.array(list("aaba")))
    np.savez(shelf / "dense.npz", **(good | {key: np.asarray(value) for key, value in arrays.items()}))
    with pytest.raises(ValueError, match=rf"^{shelf}/dense\.npz: .*{says}"):
        load_dataset("dense")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r": shape \(0,\), but words has \(3,\)"),
        ("ACGT,-1\nxYZ,1\nMNOPQ,-1\n", ", line 1: 'ACGT,-1'. Expected the header"),
        ("sequence,label\nACGT,-1\nxYZ\nMNOPQ,-1\n", ", line 3: 'xYZ'"),
        ("sequence,label\nACGT,-1\n\nMNOPQ,-1\n", ", line 3: ''"),
        ("sequence,label\nACGT,-1\nxYZ,1,1\n", ", line 3: 'xYZ,1,1'"),
        ("sequence,label\nACGT,2\n", ", line 2: 'ACGT,2'. Expected letters, a comma and a label among -1, 1"),
        ("sequence,label\nAC GT,1\n", ", line 2: 'AC GT,1'"),
        ('sequence,label\nACGT,1\n"ACG,1\nACGT,1\n', ", line 3: '\"ACG,1'"),
        ("sequence,label\n" + "A" * 200000 + "\n", ", line 2: 'AAAA"),
        ("sequence,label\nACGT,-1\n,1\n", ", line 3: ',1'"),
        ("sequence,label\nACGT,-1\nxYZ,1\n", r": shape \(2,\), but words has \(3,\)"),
        ("sequence,label\nACGT,-1\nxYZ,1\nMNOPQ,1\n", ": labels {-1: 1, 1: 2}"),
        ("sequence,label\nACGT,-1\nxYZ,1\nMNOP,-1\n", ": the entries add up to 11, but those of words to 12"),
    ],
)
def test_a_malformed_sequence_file(shelf, text, says):
    (shelf / "words.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"^{shelf}/words\.csv{says}"):
        load_dataset("words")


def test_a_sequence_file_cut_anywhere_is_refused(shelf):
    path = shelf / "words.csv"
    whole = path.read_bytes()
    for keep in range(len(whole) - 1):  # without its very last byte, the line end, the file is still whole
        path.write_bytes(whole[:keep])
        with pytest.raises(ValueError, match=r"words\.csv(, line \d+)?: "):
            load_dataset("words")


# ---------------------------------------------------------------- where a set is looked for


def test_unknown_names():
    for name in ("arcene", "", None, 3):
        with pytest.raises(ValueError, match=f"^name={name!r}: expected one of alon, arcene_train, .*vowel"):
            load_dataset(name)


def no_network(**_):
    raise OSError("no route to the network")


def test_a_set_that_is_nowhere(shelf, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    (shelf / "dense.npz").rename(shelf / "elsewhere.npz")
    with pytest.raises(
        FileNotFoundError,
        match=rf"no data for 'dense': there is no file {shelf}/dense\.npz, and "
        r"OpenML does not hold it\. Put the file .* set FSEL_BOOK_DATA",
    ):
        load_dataset("dense")
    with pytest.raises(
        FileNotFoundError,
        match=rf"no file {shelf}/merged\.npz, and fetching OpenML data set 7 failed "
        r"\(no route to the network\)\. Set FSEL_BOOK_DATA",
    ):
        load_dataset("merged")
    monkeypatch.delenv("FSEL_BOOK_DATA")
    monkeypatch.chdir(shelf)  # the folder that one happens to work in is not the data folder
    for name in ("dense", "words", "merged"):
        with pytest.raises(FileNotFoundError, match=f"no data for '{name}': FSEL_BOOK_DATA is not set"):
            load_dataset(name)


DOWNLOAD = np.array([[1.0, 2, 3], [4, 5, 0], [6, 7, 8], [9, 10, 11]])


def serve(monkeypatch, data=DOWNLOAD, target=("1", "2", "2", "1")):
    """Stand in for OpenML; returns the list of calls."""
    calls = []

    def fetch_openml(**kwargs):
        calls.append(kwargs)
        return Bunch(data=data, target=np.array(target, dtype=object), feature_names=["p", "q", "r"])

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return calls


@pytest.mark.parametrize("form", [np.asarray, np.int16, scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_openml_parts_of_a_merged_table(shelf, monkeypatch, form):
    calls = serve(monkeypatch, form(DOWNLOAD))
    merged, second = load_dataset("merged"), load_dataset("second")
    assert [call["data_id"] for call in calls] == [7, 7] and not any(call["as_frame"] for call in calls)
    for got, rows, labels in ((merged, DOWNLOAD[:2], [-1, 1]), (second, DOWNLOAD[2:], [1, -1])):
        X = got.data.toarray() if scipy.sparse.issparse(got.data) else got.data
        assert X.tolist() == rows.tolist() and X.dtype == np.float64 and got.target.tolist() == labels
        assert scipy.sparse.issparse(got.data) == scipy.sparse.issparse(form(DOWNLOAD))
        assert got.feature_names.tolist() == ["p", "q", "r"]
        assert isinstance(got.data, np.ndarray | scipy.sparse.csr_array)


def test_a_file_comes_before_openml(shelf, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    np.savez(shelf / "merged.npz", X=DOWNLOAD[:2], y=np.array([1, -1]))
    assert load_dataset("merged").target.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("data", "target", "says"),
    [
        (DOWNLOAD[:2], "12", r"shape \(2, 3\) with 2 labels. Expected \(4, 3\) to take merged from"),
        (DOWNLOAD[:, :2], "1221", r"shape \(4, 2\)"),
        (DOWNLOAD.T, "122", r"shape \(3, 4\)"),
        (DOWNLOAD, "122", r"with 3 labels"),
        (DOWNLOAD, "1122", "labels"),
        (DOWNLOAD, "1233", "labels"),
        (DOWNLOAD[::-1], "1221", "add up to"),
        (DOWNLOAD + [[0, np.nan, 0], [0] * 3, [0] * 3, [0] * 3], "1221", r"data\[0, 1\] is nan"),
    ],
)
def test_openml_downloads_that_are_something_else(shelf, monkeypatch, data, target, says):
    serve(monkeypatch, data, tuple(target))
    with pytest.raises(ValueError, match=f"OpenML data set 7: .*{says}"):
        load_dataset("merged")


@pytest.mark.parametrize("target", [("-1", "1", "1", "-1"), (-1.0, 1.0, 1.0, -1.0), ("no", "yes", "yes", "no")])
def test_openml_labels_in_other_dress(shelf, monkeypatch, target):
    serve(monkeypatch, target=target)
    y = load_dataset("merged").target
    assert y.tolist() == [-1, 1] and y.dtype.kind == "i"


# ---------------------------------------------------------------- the real files


@needs_data
@pytest.mark.parametrize("name", list(datasets._SETS))
def test_real_sets_load_as_the_table_says(name):
    spec = datasets._SETS[name]
    suffix = "csv" if len(spec.shape) == 1 else "npz"
    if not (Path(os.environ["FSEL_BOOK_DATA"]) / f"{name}.{suffix}").exists():
        pytest.skip(f"FSEL_BOOK_DATA holds no {name}.{suffix}")
    got = load_dataset(name)
    shape = got.data.shape if suffix == "npz" else (len(got.data),)
    assert shape == spec.shape and got.target.shape == shape[:1] and name in got.DESCR
    values, counts = np.unique(got.target, return_counts=True)
    if name == "la_ozone":
        assert got.target.max() == 38 and got.feature_names.shape == (9,)
    else:
        assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == spec.labels
    if name in ("dexter_train", "basehock", "pcmac", "relathe"):
        assert isinstance(got.data, scipy.sparse.csr_array) and got.data.dtype == np.float64
    elif name in ("prostate", "golub", "alon"):
        assert got.data.dtype == np.float32
    elif suffix == "npz":
        assert got.data.dtype == np.float64
    if name == "vowel":
        assert got.is_train.dtype == bool and (got.is_train.sum(), (~got.is_train).sum()) == (48 * 11, 42 * 11)


@needs_data
@pytest.mark.parametrize("name", ["ionosphere", "pcmac"])
def test_a_real_file_cut_at_many_places(name, tmp_path, monkeypatch):
    whole = (Path(os.environ["FSEL_BOOK_DATA"]) / f"{name}.npz").read_bytes()
    monkeypatch.setenv("FSEL_BOOK_DATA", str(tmp_path))
    path = tmp_path / f"{name}.npz"
    cuts = {0, 1, 100, len(whole) // 2, len(whole) - 100, len(whole) - 1} | set(
        random.Random(0).sample(range(len(whole)), 20)
    )
    for keep in cuts:
        path.write_bytes(whole[:keep])
        with pytest.raises(ValueError, match=rf"^{path}: "):
            load_dataset(name)


@needs_data
def test_one_real_part_in_place_of_another(tmp_path, monkeypatch):
    source = Path(os.environ["FSEL_BOOK_DATA"]) / "arcene_valid.npz"
    (tmp_path / "arcene_train.npz").write_bytes(source.read_bytes())
    monkeypatch.setenv("FSEL_BOOK_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="the entries add up to 71410108, but those of arcene_train to 70726744"):
        load_dataset("arcene_train")


@needs_data
def test_the_real_parts_as_openml_would_merge_them(monkeypatch):
    parts = [load_dataset(name) for name in ("arcene_train", "arcene_valid")]
    data, target = np.vstack([p.data for p in parts]), np.r_[parts[0].target, parts[1].target]
    monkeypatch.delenv("FSEL_BOOK_DATA")
    calls = serve(monkeypatch, data, tuple(str((t + 3) // 2) for t in target))  # classes "1" and "2"
    for name, part in zip(("arcene_train", "arcene_valid"), parts, strict=True):
        got = load_dataset(name)
        assert np.array_equal(got.data, part.data) and np.array_equal(got.target, part.target)
    assert [call["data_id"] for call in calls] == [1458, 1458]
    serve(monkeypatch, data[::-1], tuple(str((t + 3) // 2) for t in target[::-1]))
    with pytest.raises(ValueError, match="OpenML data set 1458"):
        load_dataset("arcene_train")


# ---------------------------------------------------------------- TechTC-300


FEATURES = "# words of the pair\n#\n1 opera\n2 submarine\n3 navy\n4 libretto\n5 ship\n\n"
VECTORS = "# pair 1092 789236\n# first\n1 1:3 3:1 4:2\n# second\n-1 2:5 5:2 # a remark\n# third\n+1\n"


@pytest.fixture
def pair(tmp_path):
    folder = tmp_path / "Exp_1092_789236"
    folder.mkdir()
    (folder / "features.idx").write_text(FEATURES)
    (folder / "vectors.dat").write_text(VECTORS)
    return folder


def test_techtc_folder(pair):
    got = load_techtc(str(pair))
    assert isinstance(got.data, scipy.sparse.csr_array) and got.data.dtype == np.float64
    assert got.feature_names.tolist() == ["opera", "submarine", "libretto"]
    assert got.data.toarray().tolist() == [[3, 0, 2], [0, 5, 0], [0, 0, 0]]
    assert got.target.tolist() == [1, -1, 1] and got.target.dtype == np.int64
    assert got.categories == ("1092", "789236") and "Exp_1092_789236" in got.DESCR
    assert load_techtc(pair.rename(pair.parent / "mine")).categories is None


def test_techtc_agrees_with_scikit_learn(tmp_path):
    rng = np.random.RandomState(0)
    counts = scipy.sparse.csr_array(rng.poisson(0.4, (30, 40)))
    y = rng.choice([-1, 1], 30)
    folder = tmp_path / "Exp_1_2"
    folder.mkdir()
    words = [f"word{i}" for i in range(40)]
    (folder / "features.idx").write_text("".join(f"{i + 1}\t{w}\n" for i, w in enumerate(words)))
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{counts[i, j]}" for j in counts[[i]].indices) for i, label in enumerate(y)
    ]
    (folder / "vectors.dat").write_text("\n".join(lines) + "\n")
    got = load_techtc(folder)
    X, target = load_svmlight_file(str(folder / "vectors.dat"), n_features=40, zero_based=False)
    assert (got.data != X).nnz == 0 and np.array_equal(got.target, target) and (got.data != counts).nnz == 0


def test_techtc_word_length(pair):
    assert load_techtc(pair, min_word_length=1).data.toarray().tolist() == [
        [3, 0, 1, 2, 0],
        [0, 5, 0, 0, 2],
        [0, 0, 0, 0, 0],
    ]
    assert load_techtc(pair, min_word_length=9).feature_names.tolist() == ["submarine"]
    with pytest.raises(ValueError, match=r"Exp_1092_789236: 3 documents and 0 words of 10 letters or more"):
        load_techtc(pair, min_word_length=10)
    for bad in (0, 2.5, None):
        with pytest.raises(ValueError, match=f"^min_word_length={bad!r}: expected an integer of at least 1"):
            load_techtc(pair, min_word_length=bad)


@pytest.mark.parametrize("name", ["features.idx", "vectors.dat"])
def test_techtc_missing_file(pair, name):
    (pair / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"{name}: no such file. Expected a folder with vectors"):
        load_techtc(pair)


@pytest.mark.parametrize(
    ("name", "line", "text", "says"),
    [
        ("vectors.dat", 3, "2 1:3", "label '2'. Expected 1 or -1"),
        ("vectors.dat", 3, "opera 1:3", "label 'opera'"),
        ("vectors.dat", 3, "1 1:3 3", "entry '3'. Expected number:count"),
        ("vectors.dat", 3, "1 1:3 3:", "entry '3:'"),
        ("vectors.dat", 3, "1 1:3 3:x", "entry '3:x'"),
        ("vectors.dat", 3, "1 1:3 3:nan", "entry '3:nan'"),
        ("vectors.dat", 3, "1 1:-3", "entry '1:-3'"),
        ("vectors.dat", 3, "1 1:3 3:1e999", "entry '3:1e999' after number 1"),
        ("vectors.dat", 3, "1 -1:3", "entry '-1:3'"),
        ("vectors.dat", 5, "-1 3:1 2:5", "entry '2:5' after number 3. Expected ascending"),
        ("vectors.dat", 5, "-1 2:1 2:5", "entry '2:5' after number 2"),
        ("vectors.dat", 5, "-1 0:1", "word number 0 is not in features.idx"),
        ("vectors.dat", 5, "-1 2:5 6:2", "word number 6 is not in features.idx"),
        ("features.idx", 4, "submarine", "'submarine'. Expected a new positive number and a word"),
        ("features.idx", 4, "2 submarine race", "'2 submarine race'"),
        ("features.idx", 4, "1 submarine", "'1 submarine'"),
        ("features.idx", 4, "0 submarine", "'0 submarine'"),
        ("features.idx", 4, "two submarine", "'two submarine'"),
    ],
)
def test_techtc_malformed_line(pair, name, line, text, says):
    lines = (pair / name).read_text().split("\n")
    lines[line - 1] = text
    (pair / name).write_text("\n".join(lines))
    with pytest.raises(ValueError) as caught:
        load_techtc(pair)
    assert str(caught.value).startswith(f"{pair / name}, line {line}: {says}")


def test_techtc_cut_inside_a_line(pair):
    path = pair / "vectors.dat"
    for keep in range(1, len(VECTORS) - 1):
        path.write_text(VECTORS[:keep])
        if VECTORS[keep - 1] == "\n":
            continue  # cut between lines: the format cannot tell
        with pytest.raises(ValueError, match=rf"vectors\.dat, line {VECTORS[:keep].count(chr(10)) + 1}: the file ends"):
            load_techtc(pair)
    path.write_text("# nothing but remarks\n")
    with pytest.raises(ValueError, match="0 documents"):
        load_techtc(pair)
    (pair / "features.idx").write_text(FEATURES[: FEATURES.index("4 lib")])
    path.write_text(VECTORS)
    with pytest.raises(ValueError, match=r"vectors\.dat, line 3: word number 4 is not in features\.idx"):
        load_techtc(pair)


def test_techtc_any_byte_is_a_character(pair):
    (pair / "features.idx").write_bytes(FEATURES.encode().replace(b"opera", b"op\xe9ra"))
    assert load_techtc(pair).feature_names[0] == "opéra"
