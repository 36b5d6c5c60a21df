"""The generators against their recipes, and the embedded documents against the rule
that makes them.
"""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import ndtr

from fsel_book.datasets import (
    load_docstrings,
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
SIZED = [
    make_bhattacharyya,
    make_bhattacharyya_regression,
    make_linear_sign,
    make_linear_regression,
]


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
    first = make(random_state=7)
    second = make(random_state=np.random.RandomState(7))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    other = make(random_state=8)
    assert not np.array_equal(first[0], other[0])
    rng = np.random.RandomState(7)
    assert not np.array_equal(make(random_state=rng)[0], make(random_state=rng)[0])


@every_generator
@pytest.mark.parametrize("bad", [0, -3, 2.5, "ten", None, True])
def test_sizes_that_are_none(make, shape, k, classes, bad):
    for name in ("n_samples", "n_features"):
        with pytest.raises(
            ValueError, match=rf"^{name}={bad!r}: expected an integer of at least \d"
        ):
            make(**{name: bad})


@pytest.mark.parametrize("make", SIZED)
def test_more_relevant_features_than_features(make):
    with pytest.raises(ValueError, match=r"^n_informative=6: .* at most n_features=5"):
        make(10, 5, 6)
    with pytest.raises(ValueError, match=r"^n_informative=0: "):
        make(10, 5, 0)
    # NumPy's integers are integers, and 5 of 5 is allowed
    X, _, relevant = make(1, 5, np.int64(5), random_state=0)
    assert X.shape == (1, 5) and len(relevant) == 5


def test_boxes_and_products_need_their_relevant_features():
    for make, least in (
        (make_nested_square, 2),
        (make_nonlinear_regression, 2),
        (make_nested_cube, 3),
        (make_collinear_regression, 3),
    ):
        assert make(4, least)[0].shape == (4, least)
        with pytest.raises(
            ValueError,
            match=f"^n_features={least - 1}: expected an integer of at least {least}",
        ):
            make(4, least - 1)


@pytest.mark.parametrize(
    ("make", "name", "bad", "says"),
    [
        (make_bhattacharyya_regression, "noise", -0.1, "at least 0"),
        (make_linear_regression, "noise", float("nan"), "at least 0"),
        (make_linear_regression, "noise", "loud", "at least 0"),
        (make_linear_sign, "effect_sizes", (), "positive finite"),
        (make_linear_sign, "effect_sizes", (0.5, -1), "positive finite"),
        (
            make_linear_regression,
            "effect_sizes",
            (0.5, float("inf")),
            "positive finite",
        ),
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


# ---------------------------------------------------------------- generators: law An
# average of n independent numbers of standard deviation s is further than 5 s / sqrt(n)
# from its mean in about one of two million cases; the seeds are fixed, so a failure
# means a change.


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
    n = 200000
    group = [0, 1]
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
        np.linalg.lstsq(
            *make_bhattacharyya_regression(25, 20, 5, noise=0, random_state=s)[:2]
        )[0]
        for s in range(200)
    ]
    assert abs(np.mean(coefficients)) < 5 / np.sqrt(4000) and abs(
        np.var(coefficients) - 1
    ) < 5 * np.sqrt(2 / 4000)


def test_linear_sign_is_the_sign_of_a_plane():
    n = 20000
    X, y, relevant = make_linear_sign(n, 8, 3, effect_sizes=0.7, random_state=0)
    assert np.abs(X).max() <= 1 and np.abs(X.mean(axis=0)).max() < 5 * np.sqrt(
        1 / 3 / n
    )
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
    assert np.array_equal(y == 1, inside) and abs(inside.mean() - 1 / 4) < 5 * np.sqrt(
        3 / 16 / n
    )
    assert np.abs(np.corrcoef(X.T, y)[-1, :-1]).max() < 5 / np.sqrt(n)


@pytest.mark.parametrize("q", [0, 0.3, 0.9])
def test_nested_cube_is_uniform_correlated_and_balanced(q):
    n = 40000
    X, y, _ = make_nested_cube(n, 5, correlation=q, random_state=0)
    h = 2 ** (1 / 3)
    assert np.abs(X).max() <= h
    # Kolmogorov's distance to the uniform: above 2.5 / sqrt(n) in about 7 of a million
    # cases
    for column in X.T:
        distance = np.abs(
            (np.sort(column) / h + 1) / 2 - (np.arange(n) + 0.5) / n
        ).max()
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
    """A normal correlation of 0.5 would give the uniforms (6 / pi) arcsin(0.25) =
    0.483.
    """
    X, _, _ = make_nested_cube(400000, 3, correlation=0.5, random_state=0)
    assert np.abs(np.corrcoef(X.T)[0, 1:] - [0.5, -0.5]).max() < 5 / np.sqrt(400000)


def test_nonlinear_regressions_are_the_printed_formulas():
    X, y, _ = make_nonlinear_regression(50, a1=2.0, a2=0.3, random_state=0)
    assert np.abs(X).max() <= 2
    assert np.allclose(
        y, [2 * x[0] * x[1] / (1 + 0.3 * x[0]) ** 2 for x in X], rtol=1e-12
    )
    X, y, _ = make_collinear_regression(50, a1=1, a2=0.2, a3=3, a4=0.7, random_state=0)
    by_hand = [
        x[0] * x[1] / (1 + 0.2 * x[0]) ** 2 + 3 * x[1] * x[2] / (1 + 0.7 * x[1]) ** 2
        for x in X
    ]
    assert np.allclose(y, by_hand, rtol=1e-12)
    cube, _, _ = make_nested_cube(50, correlation=0.3, random_state=0)
    assert np.array_equal(X, cube), (
        "the regression and the classes share their features"
    )


# ---------------------------------------------------------------- docstrings


def test_docstrings_form():
    docs = load_docstrings()
    n, d = docs.data.shape
    assert (
        isinstance(docs.data, scipy.sparse.csr_array) and docs.data.dtype == np.float64
    )
    assert docs.data.has_canonical_format and docs.data.indices.dtype == np.int32
    assert docs.target.shape == docs.document_names.shape == (
        n,
    ) and docs.feature_names.shape == (d,)
    assert docs.target.dtype == np.int64 and docs.target_names.tolist() == [
        "scipy.stats",
        "scipy.signal",
    ]
    assert 400 < n < 560 and 4000 < d < 6000, (
        "the size moves with SciPy, but not that far"
    )
    assert (np.diff(docs.target) >= 0).all() and docs.target.max() == 1
    assert docs.feature_names.tolist() == sorted(set(docs.feature_names.tolist()))
    assert all(
        len(word) >= 5 and word.isalpha() and word == word.lower()
        for word in docs.feature_names
    )
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
    assert docs.feature_names.tolist() == [
        "eigenvalue",
        "filter",
        "matrix",
        "problem",
        "words",
        "ångström",
    ]
    assert docs.data.toarray().tolist() == [
        [1, 0, 0, 1, 0, 0],
        [0, 0, 3, 0, 1, 1],
        [0, 1, 0, 1, 0, 0],
    ]
    assert docs.target.tolist() == [0, 0, 1]


def test_docstrings_errors(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ImportError, match="^module_b='scipy.nonsense': cannot be imported"
    ):
        load_docstrings("scipy.stats", "scipy.nonsense")
    for bad in (None, "", 3, "..scipy"):
        with pytest.raises(
            ImportError, match="^module_a=.*Expected the name of an installed module"
        ):
            load_docstrings(bad)
    with pytest.raises(ValueError, match="^module_a='fsel_toy_c': has no __all__"):
        load_docstrings(write_module(tmp_path, "fsel_toy_c", "x = 1"))
    with pytest.raises(
        ValueError, match="^module_b='fsel_toy_d': has no docstring of its own"
    ):
        load_docstrings(
            "scipy.stats",
            write_module(tmp_path, "fsel_toy_d", "__all__ = ['f']\ndef f(): pass\n"),
        )
    with pytest.raises(
        ValueError, match="^module_a='scipy.signal': has no docstring of its own"
    ):
        load_docstrings("scipy.signal", "scipy.signal")
