"""The chapter of errata: every entry is shown by a cell, and what is printed differs
from what is correct.
"""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import qr

from fsel_book.certificates import Sampling, certify
from fsel_book.dual_set import det_promise, det_sampling
from fsel_book.leverage import leverage_sampling
from fsel_book.ridge import largest_image, matrix_interval, ridge_risk
from fsel_book.sparsification import bss
from fsel_book.spectra import row_space

path = Path(__file__).resolve().parent.parent / "nbs" / "41_errata.ipynb"
book = json.loads(path.read_text(encoding="utf-8"))["cells"]
source = {
    kind: ["".join(c["source"]) for c in book if c["cell_type"] == kind]
    for kind in ("markdown", "code")
}
prose = "\n".join(source["markdown"])


def entries():
    """The rows of the chapter's tables: number, anchor, where, printed, correct, kind,
    proof.
    """
    rows = re.findall(
        r"^\| \[([A-Z]\d+)\]\(#sec-errata-(\w+)\) \| (.*) \|$",
        prose,
        flags=re.MULTILINE,
    )
    return [(number, group, *rest.split(" | ")) for number, group, rest in rows]


ENTRIES = entries()
NUMBERS = [entry[0] for entry in ENTRIES]
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=NUMBERS)
every_draw = pytest.mark.parametrize("seed", range(5))


LIST = r"[A-Z]\d+(?:, [A-Z]\d+)*"


def shown_by(text):
    """The entries that a code cell says it shows, in its first line."""
    match = re.fullmatch(rf"# ({LIST})", text.splitlines()[0])
    return match[1].split(", ") if match else []


def checked_by(text):
    """The entries that a code cell says it checks, in its first line."""
    match = re.match(rf"# Check of ({LIST}): \w", text.splitlines()[0])
    return match[1].split(", ") if match else []


def assertions(text):
    """How often a code cell asserts something."""
    calls = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assert | ast.Call)
    )
    return sum(
        isinstance(n, ast.Assert) or getattr(n.func, "id", "").startswith("test_")
        for n in calls
    )


# ---------------------------------------------------------------- the chapter


def test_the_tables_are_whole_and_their_numbers_run_on():
    kinds = {"misprint", "constant", "condition", "false", "experiment"}
    assert len(ENTRIES) > 70 and all(
        len(entry) == 7 and entry[5] in kinds for entry in ENTRIES
    )
    for letter in "CSRBZD":
        own = [int(number[1:]) for number in NUMBERS if number[0] == letter]
        assert own == list(range(1, len(own) + 1)), letter


@every_entry
def test_every_entry_has_one_cell_that_asserts(entry):
    cells = [text for text in source["code"] if entry[0] in checked_by(text)]
    assert len(cells) == 1 and assertions(cells[0]), f"{entry[0]}: {len(cells)} cells"


def test_every_cell_names_entries_of_the_list():
    checked = [number for text in source["code"] for number in checked_by(text)]
    assert sorted(checked) == sorted(NUMBERS)
    shown = [number for text in source["code"] for number in shown_by(text)]
    assert len({*shown}) == len(shown) > 60 and {*shown} <= {*NUMBERS}


def test_what_shows_an_entry_is_open_and_its_check_is_folded_below():
    code = [cell for cell in book if cell["cell_type"] == "code"]
    for cell, below in zip(code, code[1:]):
        names = shown_by("".join(cell["source"]))
        if names:
            assert cell["outputs"] and "jupyter" not in cell["metadata"], names
            assert not assertions("".join(cell["source"])), names
            assert checked_by("".join(below["source"])) == names
        if checked_by("".join(cell["source"])):
            assert cell["metadata"]["jupyter"]["source_hidden"]
            assert {*cell["metadata"]["tags"]} == {"check", "details"}
            assert not cell["outputs"]


@every_entry
def test_every_entry_stands_in_its_section_and_says_what_holds(entry):
    number, group, where, printed, correct, _, proof = entry
    heading = re.search(
        rf'^### [\d.]+ (.*) <a id="sec-errata-{group}"></a>$', prose, flags=re.MULTILINE
    )
    section = re.split(r"^##", prose[heading.end() :], flags=re.MULTILINE)[0]
    told = re.search(rf"\*{number}\.?\*", section) or re.match(
        rf"{number}\b", heading[1]
    )
    assert told, f"{number} is not told in its section"
    assert where and printed and correct and re.search(r"#[a-z]+-[\w-]+\)", proof)


def largest_eigenvalue(gamma):
    """That of `exp(-gamma^2 (x - z)^2)` for a feature that is uniform in [-1, 1]."""
    t, w = np.polynomial.legendre.leggauss(200)
    return np.linalg.eigvalsh(
        np.exp(-((gamma * (t[:, None] - t)) ** 2)) * np.sqrt(w[:, None] * w) / 2
    )[-1]


@pytest.mark.parametrize(
    ("alpha", "d_0", "d"), [(1.0, 4, 15), (1.0, 2, 6), (0.5, 4, 8), (3.0, 2, 10)]
)
def test_the_width_of_lemma_3_of_risk_rfe_is_for_few_features(alpha, d_0, d):
    """Beyond (alpha + 1) d_0 features no rate follows: what a machine on all of them
    can be tends to zero.
    """
    assert d > (alpha + 1) * d_0

    def size(features, power):
        """The largest root mean square of a function with lambda |f|^2 <= 1, at widths
        lambda^-power.
        """
        lams = 10.0 ** -np.arange(2, 9, 2)
        return np.array(
            [np.sqrt(largest_eigenvalue(lam**-power) ** features / lam) for lam in lams]
        )

    printed = 1 / ((alpha + 1) * d_0)
    own = 1 / (alpha * d_0 + d)
    assert (np.diff(size(d, printed)) < 0).all()
    assert (np.diff(size(d, own)) > 0).all() and (np.diff(size(d_0, printed)) > 0).all()
    told = {entry[0]: entry for entry in ENTRIES}["D27"]
    assert (
        told[5] == "false"
        and "d>(\\alpha+1)d_0" in told[4]
        and "#prp-rates-width" in told[6]
    )
    section = prose[prose.index('id="sec-errata-d27"') :]
    section = section[: section.index("\n### ")]
    assert "does follow" not in section
    assert "at every dispensable set $J$, with one width for all of them" in section


def test_at_the_width_of_lemma_3_a_feature_that_matters_may_go_first():
    """y is the sign of x_1 + x_2, and x_3 to x_5 vary a fifth as much: where |f| < 1,
    the least hinge objective is 1 - theta / (4 lambda).
    """
    shares = []
    for lam in (1e-6, 1e-9, 1e-12):
        gamma = lam ** (-1 / 3)
        # u = x - x' has a triangular density, and k is zero but for small u
        u = np.linspace(0, min(2, 9 / gamma), 20_001)
        k = np.exp(-((gamma * u) ** 2))
        narrow = np.linspace(0, min(0.4, 9 / gamma), 20_001)
        idle = 2 * np.trapezoid(
            np.exp(-((gamma * narrow) ** 2)) * (0.4 - narrow) / 0.16, narrow
        )
        # without x_1: the mean of x x' over x, for |x| <= 1 and |x - u| <= 1
        one = 2 * np.trapezoid(k * (2 / 3 - u + u**3 / 6) / 4, u)
        # to leading order, as both samples have the same label
        both = np.pi / gamma**2 / 4
        shares.append(one * idle / both)
        largest = (2.5 * np.sqrt(np.pi) / gamma) ** 3 * np.sqrt(np.pi) / gamma / lam / 4
        assert shares[-1] > 1.4
    assert largest < 0.01 and abs(shares[-1] - 5 / 3) < 1e-2


@pytest.mark.parametrize("c", [0.5, 2])
def test_d31_a_width_tied_to_the_samples_is_blind_with_log_n_features(c):
    """alpha d_0 = 1 and lambda = n^(-3/5): what f can be falls at both widths that
    grow, and at a small fixed one it does not.
    """
    numbers = np.arange(8, 64, 8)  # of features, d = c log n
    lams = np.exp(-0.6 * numbers / c)

    def sizes(gammas):
        """The logarithm of the bound on the root mean square of f."""
        return (numbers * np.log(np.sqrt(np.pi) / (2 * gammas)) - np.log(lams)) / 2

    of_lemma, of_all = lams ** (-1 / 3), lams ** (-1 / (1 + numbers))
    assert (np.diff(sizes(of_lemma)) < 0).all() and (np.diff(sizes(of_all)) < 0).all()
    steps = np.diff(sizes(of_all)) / np.diff(numbers)
    assert abs(steps[-1] - np.log(np.sqrt(np.pi) / 2) / 2) < 0.05
    fixed = numbers * np.log(largest_eigenvalue(0.1)) - np.log(lams)
    assert (np.diff(fixed) > 0).all()
    start = prose.index('id="sec-errata-d31"')
    assert "#sec-consistency-rc3" in prose[start : start + 1500]


def test_rates_ask_for_dispensable_sets_and_one_kernel():
    """What the propositions on growing numbers of features and on rates assume."""
    chapter = path.with_name("25_consistency.ipynb").read_text(encoding="utf-8")
    text = "\n".join("".join(c["source"]) for c in json.loads(chapter)["cells"])
    growing, rates, width = (
        re.search(rf'^> <a id="prp-{label}"></a>.*', text, flags=re.MULTILINE)[0]
        for label in ("growing", "rates", "lemma-width")
    )
    assert "error of a *dispensable* set" in growing and "one for all sets" in growing
    assert "for every dispensable $J$" in rates and "one for all $J$" in rates
    assert "((\\alpha+1)d_0)" in width
    assert "This does not follow from [Proposition" in text


def test_no_entry_says_more_than_its_paper_allows():
    """What is a condition, a guess or a reading of a paper is not called false."""
    told = {entry[0]: entry for entry in ENTRIES}
    kinds = {number: told[number][5] for number in ("B8", "D10", "D31", "R2", "Z4")}
    assert kinds == {
        "B8": "condition",
        "D10": "condition",
        "D31": "constant",
        "R2": "misprint",
        "Z4": "constant",
    }
    for old in (
        "most matrices",
        "no proof can give less",
        "is too weak",
        "thinks that",
    ):
        assert old not in prose, old
    for new in (
        "assumes full rank throughout",
        "no more than Lemmas 2 and 7",
        "is needed, which is right",
        "normalised once",
    ):
        assert new in prose, new


@every_draw
def test_c_a_matrix_whose_singular_values_are_alike_meets_the_printed_definition(seed):
    """Of rank-revealing QR, with a small factor; one whose values fall far cannot."""
    A = np.random.default_rng(seed).standard_normal((30, 2000))
    for last, met in ((1.0, True), (1e-8, False)):
        A[-1] *= last
        sigma = np.linalg.svd(A, compute_uv=False)
        R = qr(A, mode="r", pivoting=True)[0]
        left = np.linalg.norm(R[10:, 10:], 2)
        assert left >= sigma[10] * (1 - 1e-9)
        assert (left < 2 * sigma[-1]) == met
        assert (sigma[10] < 1e6 * sigma[-1]) == met


def test_b_the_older_bound_is_weaker_once_r_is_a_few_times_k():
    for k in range(5, 60):
        assert 1 + np.sqrt(9 * k / (6 * k)) <= np.sqrt(k)
        assert (1 + np.sqrt(9 * k / (k + 1)) <= np.sqrt(k)) == (k >= 16)


def test_the_letter_that_appendix_b_of_dual_projection_leaves_undefined_is_listed():
    (entry,) = (e for e in ENTRIES if e[0] == "Z13")
    assert "\\eta_i" in entry[3] and "\\xi_i" in entry[4] and entry[5] == "misprint"


def test_what_the_text_of_risk_rfe_says_of_scad_and_of_unique_sets():
    """D36: the Gaussian kernel does match SCAD; D12: Remark 8 claims no uniqueness."""
    told = {entry[0]: entry for entry in ENTRIES}
    assert "Gaussian kernel alone" in told["D36"][4]
    assert "Remark 8 does not claim" in told["D12"][4]
    assert "$J_*$ is unique" not in told["D12"][3]
    assert "72 percent without a mistake" in prose


def test_of_the_paper_on_support_vector_machines_only_the_supplement_is_cited():
    """Its Theorems 1 and 2, Lemmas 1 and 2 and section 3 were not at hand; and entropy
    numbers are in another norm than the paper's conditions.
    """
    for notebook in path.parent.glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
        cited = r"\(#ref-paul2015svm\)[^()\[]*?\b(?:Theorem|Lemma|section)s? \d"
        for place in re.finditer(cited, text):
            around = text[place.start() - 60 : place.end() + 40]
            assert "supplement" in around, (notebook.name, around)
        cited = r"Magdon-Ismail and Drineas\s+2015,\s+([^;]*?(?:Theorem|Lemma)s? \d)"
        for place in re.findall(cited, text):
            # the supplement has Algorithm 1 and Lemma 3
            assert "supplement" in place or place.endswith("Lemma 3"), place
    svm = path.with_name("16_svm.ipynb").read_text(encoding="utf-8")
    assert "five theorems" not in svm and "states Theorems 3 to 5" in svm
    chapter = path.with_name("25_consistency.ipynb").read_text(encoding="utf-8")
    assert "section 3.4" not in chapter
    assert "(RC1) to (RC3) ask for those on the sample" in chapter


@pytest.mark.parametrize("key", ["davidson2001", "lam2015", "nesterov2005"])
def test_works_are_listed_with_what_was_missing(key):
    missing = {
        "davidson2001": "Elsevier",
        "lam2015": "7:1–7:6",
        "nesterov2005": "103(1), 127–152",
    }[key]
    lists = [
        line
        for notebook in path.parent.glob("*.ipynb")
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        for line in cell["source"]
        if f'<a id="ref-{key}">' in line
    ]
    assert lists and all(missing in line for line in lists)


@pytest.mark.parametrize("number", ["S1", "Z1", "Z5", "Z6"])
def test_what_one_letter_of_the_print_decides_is_no_more_than_a_misprint(number):
    """We had texts taken from the pages; these entries say what they depend on."""
    told = {entry[0]: entry for entry in ENTRIES}[number]
    assert told[5] == "misprint"
    section = prose[prose.index(f'id="sec-errata-{told[1]}"') :]
    section = section[: section.index("\n##")] if "\n##" in section else section
    assert re.search("print (decides|has|keeps)|paper's print", section)
    start = re.search(r"^## \d+\.2 ", prose, flags=re.MULTILINE)
    matter = prose[start.start() : prose.index('id="sec-errata-list"')]
    assert f"[{number}]" not in matter and f"*{number}*" not in matter


def test_formulas_of_the_tables_are_whole_and_cannot_be_taken_for_the_ends_of_columns():
    for number, *fields in ENTRIES:
        for field in fields:
            assert field.count("$") % 2 == 0 and "|" not in field, f"{number}: {field}"


def test_the_stored_counts_are_those_of_the_tables():
    (cell,) = (c for c in book if "counts = Counter" in "".join(c["source"]))
    last = "".join(cell["outputs"][0]["text"]).splitlines()[-1].split()
    kinds = ("misprint", "constant", "condition", "false", "experiment")
    assert [int(n) for n in last[1:]] == [
        *(sum(e[5] == kind for e in ENTRIES) for kind in kinds),
        len(ENTRIES),
    ]


# ---------------------------------------------------------------- printed and correct,
# on random draws


@every_draw
def test_c1_the_root_of_the_weight(seed):
    """With the inverse weights the smallest eigenvalue is below the promise; with the
    right ones it never is.
    """
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((150, 4))).Q
    chosen = bss(V, 36)
    low = (1 - np.sqrt(4 / 36)) ** 2
    scale = (1 - np.sqrt(4 / 36)) / 36
    inverted = Sampling(chosen.indices, scale**2 / chosen.weights, 150, 4)
    assert certify(V, inverted).interval[0] < low <= certify(V, chosen).interval[0]


@every_draw
def test_r_the_bias_in_a_sandwich_of_kernels(seed):
    """The printed limit is passed by kernels in the sandwich; the exact worst case
    never is.
    """
    rng = np.random.default_rng(seed)
    a = 0.5
    b = 1.5
    N = 1.0
    mu = np.array([1.0, 200.0])
    z = np.array([0.0, 1.0])
    before = (N / (mu[1] + N)) ** 2
    worst = largest_image(z, *matrix_interval(mu, N, a, b))
    growth = []
    for angle in rng.uniform(0, np.pi, 200):
        turn = np.array(
            [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        )
        M = (
            turn * rng.uniform(a, b, 2) @ turn.T
            if angle < 0.1
            else turn * np.array([a, b]) @ turn.T
        )
        K = np.sqrt(mu)[:, None] * M * np.sqrt(mu)
        growth.append(np.sum((N * np.linalg.solve(K + N * np.eye(2), z)) ** 2) / before)
    assert max(growth) > 2 * (1 - 0.5) ** -2
    assert max(growth) <= worst / before * (1 + 1e-9)


@every_draw
def test_r_the_selections_themselves_pass_the_limit_on_the_bias(seed):
    """Two samples, one a million times the other; 72 picks promise a distortion of one
    half, for which the paper allows four times the bias.
    """
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((200, 2))).Q
    X = np.array([1.0, 1e3])[:, None] * V.T
    z = np.array([0.0, 1.0])

    def growth(kept):
        bias = [ridge_risk(Z @ Z.T, z, 0.0, 1.0).bias for Z in (X, kept.apply(X))]
        return bias[1] / bias[0]

    draws = [leverage_sampling(V, 72, random_state=draw) for draw in range(10)]
    assert certify(V, bss(V, 72)).eps <= 3 * np.sqrt(2 / 72)
    assert all(certify(V, kept).eps <= 0.5 for kept in draws)
    grown = [growth(kept) for kept in (bss(V, 72), *draws)]
    assert np.median(grown[1:]) > 100 and max(grown) > 1000
    if seed == 0:
        assert grown[0] == pytest.approx(48.55, abs=0.5)


@every_draw
def test_r_directions_outside_the_span_after_bss(seed):
    """Epsilon is as promised for the span, and nothing like it outside."""
    rng = np.random.default_rng(seed)
    V = row_space(
        rng.standard_normal((5, 200)) * np.exp(1.5 * rng.standard_normal(200))
    ).basis()
    chosen = bss(V, 180)
    G = chosen.weights[:, None] * V[chosen.indices]
    full = np.zeros((200, 5))
    full[chosen.indices] = G
    outside = np.linalg.norm(full - V @ (V.T @ full), 2)
    assert certify(V, chosen).eps <= 3 * np.sqrt(5 / 180) < 1 < outside


@every_draw
def test_b_the_factor_of_theorem_1(seed):
    """The book's promise is the factor that is proved; the printed one is below it for
    few columns.
    """
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 30))
    for r in rng.integers(k + 1, 10 * k, 20):
        proved = 1 / (1 - np.sqrt(k / r))
        printed = 1 + np.sqrt(9 * k / r)
        assert det_promise(k, int(r)).cross == pytest.approx(proved)
        assert (proved <= printed * (1 + 1e-12)) == (r >= 9 * k / 4)
    V = np.linalg.qr(rng.standard_normal((60, k))).Q
    chosen = det_sampling(V, rng.exponential(size=60), k + 2)
    inverse = 1 / np.sqrt(certify(V, chosen).interval[0])
    assert 1 - np.sqrt(k / (k + 2)) < 1 < inverse <= 1 / (1 - np.sqrt(k / (k + 2)))


@every_draw
@pytest.mark.parametrize("n, d", [(10, 25), (25, 10)])
def test_b_sparse_features_by_the_pseudo_inverse(seed, n, d):
    """The printed formula uses every feature of a wide matrix, and is right for a tall
    one.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    chosen = rng.choice(d, 4, replace=False)
    F = X[:, chosen] @ rng.standard_normal((4, 2))
    printed = np.abs(np.linalg.pinv(X) @ F).max(axis=1) > 1e-9
    assert np.flatnonzero(printed).tolist() == (
        sorted(chosen) if d < n else list(range(d))
    )


@every_draw
def test_z_the_effective_dimension(seed):
    """With the root as a factor the bound fails where lambda is small against gamma; as
    the subscript of the numerical rank it holds for every spectrum.
    """
    rng = np.random.default_rng(seed)
    sigma2 = 50 * rng.random(100) ** 4
    for ratio in (1e-3, 0.1, 1.0, 10.0):
        terms = sigma2 / (sigma2 + ratio)
        above = sigma2 > ratio
        assert terms.sum() <= above.sum() + terms[~above].sum()
        if ratio < 1e-2:
            assert terms.sum() > above.sum() * np.sqrt(ratio) + terms[~above].sum()
