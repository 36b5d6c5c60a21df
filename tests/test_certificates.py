"""Certificates and promises: what they say, how they are drawn, and what is said where
they are worth little.
"""

import copy
import pickle
import re
import warnings
from dataclasses import replace

import array_api_strict
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import CASES, orthonormal, refused, table
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
    normalize,
)

from fsel_book import (
    AdditiveKernelSelector,
    BSSSelector,
    CertifiedSelector,
    CompletionSelector,
    DSFSelector,
    GroupSelector,
    LeverageDisplay,
    LeverageSelector,
    RandomSelector,
    RiskRFE,
    RRQRSelector,
    RSFSelector,
    Sampling,
    SpectrumDisplay,
    SupportVectorSelector,
    TableSelector,
    as_blocks,
    certify,
    load_docstrings,
    row_space,
)
from fsel_book.certificates import Promise, method_color
from fsel_book.summaries import GramMatrix

X = table(20, 50)

# ---------------------------------------------------------------- promises and what
# they are worth

V = orthonormal(40, 6, np.random.default_rng(0))


def picked(indices, n_features=40):
    return Sampling.from_draws(indices, np.ones(len(indices)), n_features, V)


def test_a_lost_direction_is_reported():
    """A selection that misses a direction has an infinite condition number, and its
    certificate says so.
    """
    certificate = certify(V, picked([3, 1, 8, 30]))
    assert (
        certificate.kappa == np.inf
        and certificate.distortion == 1
        and certificate.holds is None
    )
    assert "lost" in str(certificate)


def test_at_rank_one_any_feature_that_is_there_does():
    """One direction is kept up to its scale by whatever is not zero there, and the
    words say that this is little.
    """
    words = ", as by any feature that is not zero there."
    line = np.full((40, 1), 40**-0.5)
    assert (
        words
        in certify(line, Sampling.from_draws([3, 7], np.ones(2), 40, line)).verdict()
    )
    line[[3, 7]] = 0
    lost = certify(
        line / np.linalg.norm(line), Sampling.from_draws([3, 7], np.ones(2), 40, line)
    )
    axes = np.eye(40, 3)
    for certificate in (
        lost,
        certify(axes, Sampling.from_draws([0, 1, 2], np.ones(3), 40, axes)),
    ):
        assert words not in certificate.verdict()


def test_long_numbers_stay_apart_from_the_promise():
    """A column is 18 wide; measured numbers that are longer still end with a space."""
    whole = certify(V, picked(np.arange(40)), Promise(0.3, 2.0))
    certificate = replace(whole, eigenvalues=np.geomspace(1.23e-6, 4.56e-5, 6))
    assert "[1.23e-06, 4.56e-05] [0.3, 2]" in str(certificate)


def test_a_promise_without_an_upper_end():
    promise = Promise(0.3, np.inf)
    assert promise.eps == np.inf and not promise.vacuous and promise.confidence == 1
    whole = certify(V, picked(np.arange(40)), promise)
    lost = certify(V, picked([3, 1, 8, 30]), promise)
    assert whole.holds is True and lost.holds is False
    for certificate in (whole, lost):
        promised = {name: text for name, _, text in certificate.table()}
        assert promised["eigenvalues of M"] == "[0.3, inf]"
        assert [
            text for name, text in promised.items() if name != "eigenvalues of M"
        ] == [
            "inf (says nothing)",
            "inf (says nothing)",
            "1 (says nothing)",
        ]
        for text in (str(certificate), certificate._repr_html_()):
            assert "says nothing" in text and "nan" not in text
        assert np.isfinite(certificate.plot().ax_.get_ylim()).all()
    assert "DOES NOT HOLD" in str(lost) and "DOES NOT HOLD" not in str(whole)
    # that no direction is lost is worth something
    assert "holds, and says nothing" not in " ".join(str(whole).split())


def test_a_promise_without_a_lower_end_is_empty():
    certificate = certify(V, picked([3, 1, 8, 30]), Promise(0.0, 2.0))
    assert certificate.promise.vacuous and certificate.holds is True
    words = " ".join(str(certificate).split())
    assert "The promise holds, and says nothing" in words and "nan" not in words


def test_the_name_of_a_method_goes_to_the_certificate():
    for method, title in (
        ("BSS", "BSS: "),
        ("leverage sampling", "Leverage sampling: "),
        ("my rule", "My rule: "),
    ):
        certificate = certify(V, picked(np.arange(9)), method=method)
        assert certificate.method == method and title in str(certificate)
        assert f"chosen by {method}" in certificate.sentences()[0]
        colors = {line.get_color() for line in certificate.plot().ax_.get_lines()}
        assert method_color(method) in colors
    assert certify(V, picked(np.arange(9))).method == "selection"
    assert (
        len({method_color(name) for name in ("BSS", "leverage sampling", "my rule")})
        == 3
    )


class First(CertifiedSelector):
    """The first features: a method with a name and nothing else."""

    method = "first features"

    def __init__(self, n_features_to_select=None, *, rank=None, rescale=False):
        self.n_features_to_select = n_features_to_select
        self.rank = rank
        self.rescale = rescale

    def _sample(self, space, r, y):
        return Sampling.from_draws(np.arange(r), np.ones(r), space.shape[0], space.X)


def legend_of(display):
    return " ".join(
        text.get_text() for text in display.plot().ax_.get_legend().get_texts()
    )


def test_a_selector_without_a_theorem():
    fitted = First(25).fit(X)
    certificate = fitted.certificate_
    assert (
        certificate.promise is None
        and certificate.holds is None
        and certificate.method == "first features"
    )
    assert [promised for _, _, promised in certificate.table()] == [""] * 4
    for text in (str(certificate), certificate._repr_html_()):
        assert (
            "First features: 25 draws, 25 of 50 features" in text
            and "nan" not in text
            and "says nothing" not in text
        )
    for display in (
        SpectrumDisplay.from_selector(fitted),
        LeverageDisplay.from_selector(fitted),
        certificate,
    ):
        assert "promised" not in legend_of(display)
    assert "chosen by first features" in legend_of(
        LeverageDisplay.from_selector(fitted)
    )
    with refused(
        "n_features_to_select='theorem' is not possible", "First has no theorem"
    ):
        First("theorem").fit(X)


# ---------------------------------------------------------------- fewer than asked for,
# and columns of nonsense


def said(fit):
    """The words of all warnings, each of which must point here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


FEWER = "different feature"
UNITS = "squared norm of all"
CONSTANT = "the same value"
NUMBER = "whole steps"
KINDS = {"fewer": FEWER, "units": UNITS, "constant": CONSTANT, "row number": NUMBER}


def kinds(words):
    """Which warnings there are among these, none of them twice."""
    found = [kind for kind, part in KINDS.items() for text in words if part in text]
    assert len(found) == len(words) == len(set(found)), words
    return set(found)


AXES = np.diag([1.0, 1, 0, 0, 2, 3, 0, 0, 0, 4, 0, 0])


@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector(6),
        DSFSelector(6),
        LeverageSelector(6, random_state=0),
        RSFSelector(6, random_state=0),
        BSSSelector(0.5),
        CompletionSelector(None, 6, rank=2),
        CompletionSelector([0], 6, rank=2),
    ],
    ids=repr,
)
def test_fewer_features_than_asked_for_are_told(selector):
    words = said(lambda: selector.fit(AXES))
    found = len(getattr(selector, "added_", selector.selected_))
    (text,) = (text for text in words if FEWER in text)
    assert (
        found < 6
        and "asks for 6 features" in text
        and f"{found} different feature" in text
    )
    assert "X has no more" in text and "n_features_to" in text


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("make", [BSSSelector, DSFSelector, LeverageSelector])
def test_fewer_features_than_asked_for_are_told_of_blocks(make, axis):
    X = np.vstack([AXES, AXES])
    selector = make(6, **({"rule": "first"} if make is DSFSelector else {}))
    if make is LeverageSelector:
        selector.set_params(random_state=0)
    blocks = as_blocks(lambda: iter(np.array_split(X, 3, axis=axis)), axis=axis)
    of_blocks = said(lambda: clone(selector).fit(blocks))
    in_memory = said(lambda: clone(selector).fit(X))
    assert (
        [text for text in of_blocks if FEWER in text]
        == [text for text in in_memory if FEWER in text]
        != []
    )


@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector("theorem", rank=2, eps=0.9),
        LeverageSelector(random_state=0),
        RandomSelector(6, random_state=0),
        RRQRSelector(6),
        LeverageSelector(6, rule="largest"),
        CompletionSelector([0], rank=2),
    ],
    ids=repr,
)
def test_whoever_gets_what_was_asked_for_is_told_nothing(selector):
    """What the remedies name gives as many as asked for; "theorem" and the default ask for
    no number.
    """
    assert not [
        text
        for text in said(lambda: selector.fit(np.hstack([AXES, AXES]) + 1))
        if FEWER in text
    ]


def cancer_with(**columns):
    frame = load_breast_cancer(as_frame=True).data
    return frame.assign(**columns)


def standardised(frame):
    return ((frame - frame.mean()) / frame.std().replace(0, 1)).fillna(0)


def test_columns_in_other_units_are_named():
    frame = cancer_with()
    (text,) = said(lambda: BSSSelector(12).fit(frame))
    assert (
        "'worst area', 'mean area'" in text
        and "of all 30 columns" in text
        and "StandardScaler" in text
    )
    (text,) = said(lambda: BSSSelector(12).fit(frame.to_numpy()))
    assert "Columns 23, 3, 22 hold 99" in text
    assert not said(lambda: BSSSelector(12).fit(standardised(frame)))
    assert not said(lambda: make_pipeline(StandardScaler(), BSSSelector(12)).fit(frame))
    (text,) = said(lambda: BSSSelector(12).fit(X * np.append(1000, np.ones(49))))
    assert text.startswith("Column 0 holds 99.99% of the squared norm")


def test_a_constant_column_that_is_chosen_is_named():
    for value in (1000.0, -1000.0):
        frame = standardised(cancer_with()).assign(bias=value)
        words = said(lambda frame=frame: BSSSelector(12).fit(frame))
        (text,) = (text for text in words if CONSTANT in text)
        assert "column 'bias'" in text and "centre" in text and "Drop" in text
        assert not said(lambda frame=frame: BSSSelector(12).fit(standardised(frame)))
    many = pd.DataFrame(X).assign(**{f"c{j}": 3.0 for j in range(7)})
    many.columns = many.columns.astype(str)
    (text,) = (
        text
        for text in said(lambda: CompletionSelector(list(many)[-7:], 9).fit(many))
        if CONSTANT in text
    )
    assert "columns 'c0', 'c1', 'c2', 'c3', 'c4' and 2 more" in text


NUMBERS = {
    "in order": lambda rng: np.arange(569),
    "from above": lambda rng: 1000 - np.arange(569),
    "by tens": lambda rng: 10 * np.arange(569),
    "shuffled": lambda rng: rng.permutation(569),
    "of a part of the rows": lambda rng: rng.permutation(1000)[:569],
    "in order with gaps": lambda rng: 842_000 + np.cumsum(rng.integers(1, 90, 569)),
    "in order in halves": lambda rng: np.arange(569) / 2,
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize(
    "form", ["frame", "float32", "sparse", "another library", "blocks"]
)
def test_a_row_number_that_is_chosen_is_named(kind, form):
    """However it runs, standardised or not."""
    frame = cancer_with(id=NUMBERS[kind](np.random.default_rng(0)))
    values = standardised(frame).to_numpy()
    makers = {
        "frame": lambda: standardised(frame),
        "float32": lambda: values.astype(np.float32),
        "sparse": lambda: sp.csr_array(values),
        "another library": lambda: array_api_strict.asarray(values),
        "blocks": lambda: as_blocks(
            lambda: iter(np.array_split(values, 4, axis=1)), axis=1
        ),
    }
    words = said(lambda: BSSSelector(31, rank=20).fit(makers[form]()))
    name = "column 'id'" if form == "frame" else "column 30"
    assert name in next(text for text in words if NUMBER in text)
    if form == "frame" and kind != "in order in halves":
        raw = said(lambda: BSSSelector(12).fit(frame.assign(id=frame["id"] + 5000)))
        assert "'id'" in next(text for text in raw if NUMBER in text)


def test_warnings_of_odd_columns_come_once_and_with_names_from_every_selector():
    frame = cancer_with(bias=1000.0, id=np.arange(569))
    y = load_breast_cancer().target
    for selector in (
        BSSSelector(20),
        DSFSelector(20),
        LeverageSelector(20, rule="largest"),
        RRQRSelector(20),
        CompletionSelector(["bias", "id"], 20),
        SupportVectorSelector(BSSSelector(20)),
    ):
        words = said(lambda selector=selector: selector.fit(frame, y))
        assert {"units", "constant", "row number"} <= kinds(words)
        assert all(
            "'bias'" in text or "'id'" in text for text in words if FEWER not in text
        )


def test_odd_columns_are_found_in_blocks_as_in_memory():
    frame = cancer_with(bias=1000.0, id=np.arange(569)).iloc[:28]
    selector = BSSSelector(20, rule="largest-norm")  # the default on blocks of features
    expected = said(lambda: clone(selector).fit(frame))
    assert kinds(expected) >= {"units", "constant", "row number"}
    assert said(lambda: clone(selector).fit(as_blocks(frame))) == expected
    # of samples in blocks, only lengths and inner products of the columns are known
    frame = cancer_with(bias=1000.0, id=np.arange(569))
    (expected,) = (
        text for text in said(lambda: BSSSelector(20).fit(frame)) if UNITS in text
    )
    assert expected in said(lambda: BSSSelector(20).fit(as_blocks(frame)))
    assert expected in said(
        lambda: BSSSelector(20).fit(GramMatrix().partial_fit(frame))
    )


def sensible_data():
    rng = np.random.default_rng(0)
    letters = np.random.default_rng(1).choice(list("acgt"), (100, 60))
    line = np.linspace(0, 1, 100)
    words = load_docstrings().data.astype(float)
    for load in (load_wine, load_breast_cancer, load_digits, load_diabetes, load_iris):
        yield (
            f"{load.__name__}, standardised",
            StandardScaler().fit_transform(load().data),
        )
    yield from (
        ("digits", load_digits().data),
        ("diabetes", load_diabetes().data),
        ("iris", load_iris().data),
    )
    yield from (
        ("Gaussian", rng.standard_normal((60, 300))),
        ("uniform", rng.random((300, 60))),
    )
    yield "letters", OneHotEncoder().fit_transform(letters)
    yield from (("words", words), ("words, normalised", normalize(words)))
    yield "words, standardised", StandardScaler(with_mean=False).fit_transform(words)
    yield (
        "spectra",
        np.exp(-((line - rng.normal(0.5, 0.1, (80, 1))) ** 2) / 0.02)
        * rng.lognormal(0, 0.5, (80, 1)),
    )
    yield "genes", rng.lognormal(rng.normal(6, 1, 1000), 0.5, (50, 1000))
    yield "counts", rng.poisson(rng.lognormal(1, 1.5, 200), (150, 200))
    yield (
        "ranks",
        QuantileTransformer(n_quantiles=100).fit_transform(
            rng.standard_normal((100, 40))
        ),
    )
    yield "a design", np.array(np.meshgrid(*[range(5)] * 4)).reshape(4, -1).T
    yield "few samples", rng.integers(0, 9, (8, 200))


@pytest.mark.parametrize(
    "data", [pytest.param(data, id=name) for name, data in sensible_data()]
)
def test_sensible_data_bring_no_warning_of_odd_columns(data):
    for selector in (
        BSSSelector(),
        LeverageSelector(rule="largest"),
        RandomSelector(random_state=0),
    ):
        words = said(lambda selector=selector: selector.fit(data))
        # a busy machine may be slow
        assert not kinds([text for text in words if "will take" not in text])


# ---------------------------------------------------------------- before fit

FITTED = (
    "certificate_ sampling_ selected_ weights_ support_ n_draws_ n_features_in_ "
    "leverage_scores_ scores_"
).split()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_fitted_attributes_say_before_fit_that_nothing_is_fitted(case):
    check_unfitted(case.make(4), FITTED)


def test_fitted_attributes_of_other_selectors_before_fit():
    check_unfitted(CompletionSelector([0], 4), [*FITTED, "given_", "added_"])
    check_unfitted(
        SupportVectorSelector(), [*FITTED, "selector_", "support_samples_", "rescale"]
    )
    check_unfitted(
        RiskRFE(4), ["ranking_", "support_", "n_features_", "n_features_in_"]
    )


def check_unfitted(selector, names):
    for some in (
        selector,
        clone(selector),
        copy.deepcopy(selector),
        pickle.loads(pickle.dumps(selector)),
    ):
        for name in names:
            assert not hasattr(some, name)
            with pytest.raises(
                NotFittedError,
                match=f"This {type(some).__name__} instance is not fitted yet",
            ):
                getattr(some, name)
        with pytest.raises(AttributeError, match="no attribute 'certificate'") as error:
            some.certificate  # noqa: B018
        assert not isinstance(error.value, NotFittedError)


def test_an_attribute_that_this_fit_does_not_leave_is_missing():
    """A fitted selector is not told to be fitted."""
    with pytest.raises(AttributeError, match="no attribute 'scores_'") as error:
        BSSSelector(4).fit(X).scores_  # noqa: B018
    assert not isinstance(error.value, NotFittedError)


# ---------------------------------------------------------------- pictures


def spectrum(largest, promise):
    """A certificate with eigenvalues from a quarter of `largest` up to it; without
    weights they are half of that.
    """
    eigenvalues = np.linspace(largest / 4, largest, 6)
    return replace(
        certify(V, Sampling(np.arange(8), np.ones(8), 40, 8), promise),
        eigenvalues=eigenvalues,
        eigenvalues_unscaled=eigenvalues / 2,
    )


def hidden_points(ax):
    """How many of the points drawn on `ax` lie outside its limits."""
    drawn = [line.get_xydata() for line in ax.lines if line.get_marker() == "."]
    assert [len(points) for points in drawn] == [6, 6] * (len(drawn) // 2)
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    return sum(
        np.sum(np.any((points < low) | (points > high), axis=1)) for points in drawn
    )


@pytest.mark.parametrize("largest", [(0.7, 2.5), (2.5, 0.7), (0.7, 40.0, 2.5)])
@pytest.mark.parametrize("shared", ["no axis", "one axis", "all axes", "one picture"])
def test_every_eigenvalue_is_in_the_picture(largest, shared):
    figure, axes = plt.subplots(
        1,
        len(largest),
        sharey=shared in ("one axis", "all axes"),
        sharex=shared == "all axes",
    )
    axes = [axes[0]] * len(largest) if shared == "one picture" else axes
    for ax, top in zip(axes, largest, strict=True):
        spectrum(top, Promise(0.1, 3.0)).plot(ax)
    for ax in axes:
        assert hidden_points(ax) == 0
        # a lost direction and the identity are in view
        assert ax.get_ylim()[0] <= 0 and ax.get_ylim()[1] >= 1
    plt.close(figure)


@pytest.mark.parametrize(
    ("lower", "upper"), [(0.1, 0.9), (0.1, 3.0), (0.5, np.inf), (0.0, 1e6)]
)
def test_the_promised_interval_is_drawn_as_it_is(lower, upper):
    """In both pictures up to its end, or out of the picture; it does not widen the
    picture.
    """
    figure, axes = plt.subplots(1, 2, sharey=True)
    for ax, top in zip(axes, (0.7, 2.5), strict=True):
        spectrum(top, Promise(lower, upper)).plot(ax)
    bottom, above = axes[0].get_ylim()
    assert bottom <= 0 and 2.5 <= above <= 3
    figure.canvas.draw()
    for ax in axes:
        (band,) = ax.patches
        (_, low), (_, high) = ax.transData.inverted().transform(
            band.get_window_extent().get_points()
        )
        assert low == pytest.approx(lower) and (
            high == pytest.approx(upper) or above < high <= upper
        )
        assert "promised, selection" in [
            text.get_text() for text in ax.get_legend().get_texts()
        ]
    plt.close(figure)


def test_a_printed_certificate_is_at_most_88_columns_wide():
    c = certify(V, picked(np.arange(9)), Promise(0, 9, 0.99), "leverage sampling")
    c = replace(c, numerical_rank=459, energy=0.75, accuracy=1e-5)
    assert min(len(c.title()), len(c.verdict())) > 88
    lines = str(c).splitlines()
    assert max(map(len, lines)) <= 88
    words = " ".join(str(c).split())
    assert words.startswith(" ".join(c.sentences()))
    assert c.guarantee() in words and c.title() in words
    assert words.endswith(c.verdict())


def test_what_is_known_to_a_few_digits_is_compared_to_these():
    """A measured end that is off by less than the accuracy of the basis does not break
    a promise.
    """
    V = orthonormal(40, 4, np.random.default_rng(0))
    found = certify(V, Sampling.from_draws(np.arange(20), np.ones(20), 40, V))
    low, high = found.interval
    near = replace(found, promise=Promise(low * (1 + 1e-3), high))
    assert not near.holds and replace(near, accuracy=2e-3).holds
    near = replace(found, promise=Promise(low, high * (1 - 1e-3)))
    assert not near.holds and replace(near, accuracy=2e-3).holds


def test_a_selector_without_leverage_scores_cannot_show_them():
    X = table(20, 30)
    for selector in (
        CompletionSelector([1], 6, rank=3).fit(X),
        BSSSelector(6).fit(as_blocks(X)),
    ):
        with refused(type(selector).__name__, "keeps no leverage_scores_"):
            LeverageDisplay.from_selector(selector)


def falling(n, d):
    """Columns of very different lengths."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * rng.pareto(1.5, d)


def share_of_distances(X, rank):
    """By its definition: all pairs of rows, of the data and of their best approximation
    of that rank.
    """
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    leading = (U[:, :rank] * S[:rank]) @ Vt[:rank]
    return np.sum(pdist(leading) ** 2) / np.sum(pdist(X) ** 2)


@pytest.mark.parametrize(
    "shape", [(30, 200), (200, 30), (40, 40), (520, 700), (700, 520)]
)
@pytest.mark.parametrize("mean", [0.0, 3.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_certified_share_of_distances_is_that_of_all_pairs(shape, mean, form):
    X = mean + falling(*shape)
    certificate = BSSSelector(24, rank=6).fit(form(X)).certificate_
    expected = share_of_distances(X, 6)
    assert certificate.distance_energy == pytest.approx(
        expected, rel=2e-3 if min(shape) > 500 else 1e-8
    )
    assert (
        f"{certificate.distance_energy:.1%} of the squared distances"
        in certificate.title()
    )
    assert mean == 0 or certificate.distance_energy < certificate.energy
    centred = BSSSelector(24, rank=6).fit(X - X.mean(axis=0)).certificate_
    assert centred.distance_energy == pytest.approx(centred.energy, rel=1e-8)


@pytest.mark.parametrize("shape", [(30, 900), (520, 700)])
def test_the_share_of_distances_from_blocks_is_that_in_memory_or_unknown(shape):
    X = 3.0 + falling(*shape)
    selector = BSSSelector(24, rank=6, rule="largest-norm")
    expected = clone(selector).fit(X).certificate_.distance_energy
    of_features = clone(selector).fit(
        as_blocks(lambda: iter(np.array_split(X, 3, axis=1)), axis=1)
    )
    assert of_features.certificate_.distance_energy == pytest.approx(expected, rel=1e-6)
    tall = np.vstack([X.T, X.T])
    of_samples = clone(selector).fit(
        as_blocks(lambda: iter(np.array_split(tall, 3)), axis=0)
    )
    assert of_samples.certificate_.distance_energy is None
    assert "distances" not in of_samples.certificate_.title()


def test_samples_that_are_all_the_same_have_no_share_of_distances():
    X = np.repeat(np.arange(1.0, 31)[None], 20, axis=0)
    assert BSSSelector(3, rank=1).fit(X + 0).certificate_.distance_energy in (None, 1.0)
    assert row_space(X).distance_energy == 1.0  # the whole of the data


# ---------------------------------------------------------------- a target


def unused(selector, *given):
    found = selector.fit(*given).certificate_
    told = "The target y had no part in the choice" in str(found)
    assert told == ("The target y had no part" in found._repr_html_())
    assert told == found.target_unused == found.to_dict()["target_unused"]
    return told


def test_a_certificate_says_of_a_target_that_nobody_looked_at_it():
    X = table(40, 12)
    y = (X[:, 3] > 0).astype(int)
    choices = [
        BSSSelector(4),
        DSFSelector(4),
        RSFSelector(4, random_state=0),
        LeverageSelector(4, random_state=0),
        RRQRSelector(4),
        RandomSelector(4, random_state=0),
        GroupSelector(2, groups=np.arange(12) // 3),
        AdditiveKernelSelector(4),
        CompletionSelector([1, 2], 2),
    ]
    for selector in choices:
        assert unused(selector, X, y), selector
        assert not unused(selector, X), selector
    blocks = as_blocks(lambda: [table(9, 150)] * 2, axis=1)
    assert unused(BSSSelector(4), blocks, np.arange(9) % 2)
    groups = np.arange(300) // 3
    assert unused(GroupSelector(4, groups=groups), blocks, np.arange(9) % 2)


def test_and_not_of_one_that_was_looked_at():
    X = table(40, 12)
    y = (X[:, 3] > 0).astype(int)
    scores = np.arange(12.0)
    choices = [
        BSSSelector(4, score_func=f_classif),
        BSSSelector(4, score_func=scores),
        DSFSelector(4, rule="target"),
        DSFSelector(4, score_func=f_classif),
        GroupSelector(2, groups=np.arange(12) // 3, score_func=f_classif),
        CompletionSelector(SelectKBest(k=2), 2),
        CompletionSelector([1, 2], 2, score_func=f_classif),
        SupportVectorSelector(BSSSelector(4)),
        TableSelector(4),
    ]
    for selector in choices:
        assert not unused(selector, X, y), selector


def test_what_is_said_is_never_more_than_what_was_measured():
    """Lower ends are rounded down and upper ends up."""
    rng = np.random.default_rng(0)
    number = r"([\d.e+-]+)"
    for r in range(4, 30, 3):
        X = rng.normal(size=(40, 60)) * rng.gamma(1, size=60)
        for selector in (BSSSelector(r), BSSSelector(r, rank=r // 3)):
            c = selector.fit(X).certificate_
            least, most = map(
                float,
                re.findall(
                    rf"at least {number}% .* more than {number}%", c.guarantee()
                )[0],
            )
            assert least <= 100 * c.plain.smallest <= least * 1.02
            assert most >= 100 * c.plain.ceiling >= most / 1.02
            for interval, (low, high) in zip(
                c.table()[0][1:], (c.interval, (c.promise.lower, c.promise.upper))
            ):
                said = [float(end) for end in interval.strip("[]").split(", ")]
                assert said[0] <= low * (1 + 1e-8) and said[1] >= high * (1 - 1e-8)
                assert low <= said[0] * 1.02 and said[1] <= high * 1.02
            within = re.findall(rf"within {number}%", c.verdict())
            if within:
                assert float(within[0]) >= 100 * c.distortion - 1e-4


def test_a_promise_that_rounding_hides_is_not_said_to_hold():
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    V = np.linalg.qr(rng.normal(size=(300, 30)))[0]
    X = ((U * np.logspace(0, -12, 30)) @ V.T).astype(np.float32)
    said = str(BSSSelector(40, rank="full").fit(X).certificate_)
    assert "promise cannot be checked" in " ".join(said.split())
    assert "more than rounding" in " ".join(said.split())
