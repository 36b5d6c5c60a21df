"""Certificates and promises by themselves: what they say, and how they are drawn."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import orthonormal, refused, table

from fsel_book import (
    BSSSelector,
    CertifiedSelector,
    CompletionSelector,
    LeverageDisplay,
    Promise,
    Sampling,
    SpectrumDisplay,
    as_blocks,
    certify,
)
from fsel_book.certificates import method_color

X = table(20, 50)

# ---------------------------------------------------------------- promises and what they are worth

V = orthonormal(40, 6, np.random.default_rng(0))


def picked(indices, n_features=40):
    return Sampling.from_draws(indices, np.ones(len(indices)), n_features, V)


def test_a_lost_direction_is_reported():
    """A selection that misses a direction has an infinite condition number, and its certificate says so."""
    certificate = certify(V, picked([3, 1, 8, 30]))
    assert certificate.kappa == np.inf and certificate.distortion == 1 and certificate.holds is None
    assert "lost" in str(certificate)


def test_at_rank_one_any_feature_that_is_there_does():
    """One direction is kept up to its scale by whatever is not zero there, and the words say that this is little."""
    words = ", as by any feature that is not zero there."
    line = np.full((40, 1), 40**-0.5)
    assert words in certify(line, Sampling.from_draws([3, 7], np.ones(2), 40, line)).verdict()
    line[[3, 7]] = 0
    lost = certify(line / np.linalg.norm(line), Sampling.from_draws([3, 7], np.ones(2), 40, line))
    axes = np.eye(40, 3)
    for certificate in (lost, certify(axes, Sampling.from_draws([0, 1, 2], np.ones(3), 40, axes))):
        assert words not in certificate.verdict()


def test_long_numbers_stay_apart_from_the_promise():
    """A column is 18 wide; measured numbers that are longer still end with a space."""
    whole = certify(V, picked(np.arange(40)), Promise(0.3, 2.0))
    certificate = replace(whole, eigenvalues=np.geomspace(1.23e-6, 4.56e-5, 6))
    assert "[1.23e-06, 4.56e-05] [0.3, 2]" in str(certificate)


def test_a_promise_without_an_upper_end():
    promise = Promise(0.3, np.inf)
    assert promise.eps == np.inf and not promise.vacuous and promise.confidence == 1
    whole, lost = certify(V, picked(np.arange(40)), promise), certify(V, picked([3, 1, 8, 30]), promise)
    assert whole.holds is True and lost.holds is False
    for certificate in (whole, lost):
        promised = {name: text for name, _, text in certificate.table()}
        assert promised["eigenvalues of M"] == "[0.3, inf]"
        assert [text for name, text in promised.items() if name != "eigenvalues of M"] == [
            "inf (vacuous)",
            "inf (vacuous)",
            "1 (vacuous)",
        ]
        for text in (str(certificate), certificate._repr_html_()):
            assert "vacuous" in text and "nan" not in text
        assert np.isfinite(certificate.plot().ax_.get_ylim()).all()
    assert "DOES NOT HOLD" in str(lost) and "DOES NOT HOLD" not in str(whole)
    assert "empty" not in str(whole)  # that no direction is lost is worth something


def test_a_promise_without_a_lower_end_is_empty():
    certificate = certify(V, picked([3, 1, 8, 30]), Promise(0.0, 2.0))
    assert certificate.promise.vacuous and certificate.holds is True
    assert "and is empty" in str(certificate) and "nan" not in str(certificate)


def test_the_name_of_a_method_goes_to_the_certificate():
    for method, title in (("BSS", "BSS: "), ("leverage sampling", "Leverage sampling: "), ("my rule", "My rule: ")):
        certificate = certify(V, picked(np.arange(9)), method=method)
        assert certificate.method == method and str(certificate).startswith(title)
        colors = {line.get_color() for line in certificate.plot().ax_.get_lines()}
        assert method_color(method) in colors
    assert certify(V, picked(np.arange(9))).method == "selection"
    assert len({method_color(name) for name in ("BSS", "leverage sampling", "my rule")}) == 3


class First(CertifiedSelector):
    """The first features: a method with a name and nothing else."""

    method = "first features"

    def __init__(self, n_features_to_select=None, *, rank=None, rescale=False):
        self.n_features_to_select, self.rank, self.rescale = n_features_to_select, rank, rescale

    def _sample(self, space, r, y):
        return Sampling.from_draws(np.arange(r), np.ones(r), space.shape[0], space.X)


def legend_of(display):
    return " ".join(text.get_text() for text in display.plot().ax_.get_legend().get_texts())


def test_a_selector_without_a_theorem():
    fitted = First(25).fit(X)
    certificate = fitted.certificate_
    assert certificate.promise is None and certificate.holds is None and certificate.method == "first features"
    assert [promised for _, _, promised in certificate.table()] == [""] * 4
    for text in (str(certificate), certificate._repr_html_()):
        assert "First features: 25 draws, 25 of 50 features" in text and "nan" not in text and "vacuous" not in text
    for display in (SpectrumDisplay.from_selector(fitted), LeverageDisplay.from_selector(fitted), certificate):
        assert "promised" not in legend_of(display)
    assert "chosen by first features" in legend_of(LeverageDisplay.from_selector(fitted))
    with refused("n_features_to_select='auto' is not possible", "First has no theorem"):
        First("auto").fit(X)


# ---------------------------------------------------------------- pictures


def spectrum(largest, promise):
    """A certificate with eigenvalues from a quarter of `largest` up to it; without weights they are half of that."""
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
    return sum(np.sum(np.any((points < low) | (points > high), axis=1)) for points in drawn)


@pytest.mark.parametrize("largest", [(0.7, 2.5), (2.5, 0.7), (0.7, 40.0, 2.5)])
@pytest.mark.parametrize("shared", ["no axis", "one axis", "all axes", "one picture"])
def test_every_eigenvalue_is_in_the_picture(largest, shared):
    figure, axes = plt.subplots(1, len(largest), sharey=shared in ("one axis", "all axes"), sharex=shared == "all axes")
    axes = [axes[0]] * len(largest) if shared == "one picture" else axes
    for ax, top in zip(axes, largest, strict=True):
        spectrum(top, Promise(0.1, 3.0)).plot(ax)
    for ax in axes:
        assert hidden_points(ax) == 0
        assert ax.get_ylim()[0] <= 0 and ax.get_ylim()[1] >= 1  # a lost direction and the identity are in view
    plt.close(figure)


@pytest.mark.parametrize(("lower", "upper"), [(0.1, 0.9), (0.1, 3.0), (0.5, np.inf), (0.0, 1e6)])
def test_the_promised_interval_is_drawn_as_it_is(lower, upper):
    """In both pictures up to its end, or out of the picture; it does not widen the picture."""
    figure, axes = plt.subplots(1, 2, sharey=True)
    for ax, top in zip(axes, (0.7, 2.5), strict=True):
        spectrum(top, Promise(lower, upper)).plot(ax)
    bottom, above = axes[0].get_ylim()
    assert bottom <= 0 and 2.5 <= above <= 3
    figure.canvas.draw()
    for ax in axes:
        (band,) = ax.patches
        (_, low), (_, high) = ax.transData.inverted().transform(band.get_window_extent().get_points())
        assert low == pytest.approx(lower) and (high == pytest.approx(upper) or above < high <= upper)
        assert "promised, selection" in [text.get_text() for text in ax.get_legend().get_texts()]
    plt.close(figure)


def test_a_printed_certificate_is_at_most_88_columns_wide():
    c = certify(V, picked(np.arange(9)), Promise(0, 9, 0.99), "leverage sampling")
    c = replace(c, numerical_rank=459, energy=0.75, accuracy=1e-5)
    assert min(len(c.title()), len(c.verdict())) > 88
    lines = str(c).splitlines()
    assert max(map(len, lines)) <= 88
    assert " ".join(str(c).split()).startswith(c.title()) and " ".join(str(c).split()).endswith(c.verdict())


def test_what_is_known_to_a_few_digits_is_compared_to_these():
    """A measured end that is off by less than the accuracy of the basis does not break a promise."""
    V = orthonormal(40, 4, np.random.default_rng(0))
    found = certify(V, Sampling.from_draws(np.arange(20), np.ones(20), 40, V))
    low, high = found.interval
    near = replace(found, promise=Promise(low * (1 + 1e-3), high))
    assert not near.holds and replace(near, accuracy=2e-3).holds
    near = replace(found, promise=Promise(low, high * (1 - 1e-3)))
    assert not near.holds and replace(near, accuracy=2e-3).holds


def test_a_selector_without_leverage_scores_cannot_show_them():
    X = table(20, 30)
    for selector in (CompletionSelector([1], 6, rank=3).fit(X), BSSSelector(6).fit(as_blocks(X))):
        with refused(type(selector).__name__, "keeps no leverage_scores_"):
            LeverageDisplay.from_selector(selector)
