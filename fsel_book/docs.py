"""Words that are written once: what several docstrings share.

In a docstring the line `%(rank)s` stands for the entry `rank` of `DOCS`, and the
decorator `insert_docs` puts it there. Lines that follow, further indented, go on with
the entry. A name that is not in the dictionary is an error when the module is imported.
A chapter adds entries of its own with `DOCS.update`.
"""

import re
from textwrap import indent
from typing import TypeVar

__all__ = ["DOCS", "SEE_ALSO", "insert_docs"]


SEE_ALSO = "see the chapter Which method when."

DOCS = {
    "X": """\
X : array, frame or sparse matrix, shape (n_samples, n_features)""",
    "n_features_to_select": """\
n_features_to_select : int, float, "auto", "theorem" or None
    How many features to choose, `r`: an integer, a fraction of all, or None for half of
    them and at most 50. So many different ones come out: equal columns, and multiples of one another,
    count as one, and zero columns not at all. Where `X` has fewer, a warning says how
    many came out. "auto" is the fewest that explain nine tenths of the variance of all,
    to within a twentieth; it tries some ten numbers, and `X` has to be in memory.
    `fsel_book.size_path` shows all numbers, and asks a target.""",
    "n_draws": """\
n_draws : int or None
    In place of `n_features_to_select`: make exactly so many draws, as the papers do,
    and let as many features come out as these happen to bring.""",
    "ridge": """\
ridge : float, "auto" or None
    Certify the data as a learner with this ridge, or any larger one, sees them: all of them, or with `rank` their
    leading directions. It is in the units of a squared singular value, as the `alpha` of
    `sklearn.linear_model.Ridge` is. "auto" takes the ridge at which half as many dimensions count as features are
    asked for, but at most a quarter of the directions.""",
    "center": """\
center : bool
    Take the means from the columns first, as a machine with an intercept does: what is
    chosen and certified is then about the differences between samples. A sparse `X`
    stays sparse, and `transform` returns the columns as they came. Not for `X` in
    blocks.""",
    "rank": """\
rank : int, "full" or None
    The rank `l` to certify, below `r`; 1 for a single draw. None takes `r // 4`, but
    `min(10, r // 2)` if that is more, and at most 100 or the numerical rank of `X`,
    which it takes with "theorem". In the selection study the
    errors at higher ranks were as large or larger, and lower ranks certify less. With
    four draws for a direction BSS promises a condition number of at most 9, and beyond
    100 directions fits become slow. "full" is the numerical rank, as in the papers.
    Below it the certificate speaks of the leading rank-`l` part of `X`, and says so.""",
    "rank_or_ridge": """\
rank : int, "full" or None
    How many leading directions of `X` are certified. Without a ridge each counts in
    full, as in the papers, and they are fewer than `r`; "full" is the numerical rank.
    With a ridge they may be more, and None is all of them. Without both, the default,
    the leading `2 r` directions are certified, at most 150, at the ridge at which a
    quarter of them counts: in the selection study that
    explained more of rows not seen than a rank of `r // 4` in full, with every number
    of columns. Only where the longest column is taken (`rule="largest-norm"`, or `X` in
    blocks of features and no scores), None is a rank: `r // 4`, but `min(10, r // 2)`
    if that is more, and at most 100; and with "theorem" the numerical rank.""",
    "eps": """\
eps : float
    For "theorem": the promised bound on the spectral distance to the identity. The number
    of draws grows with `1 / eps**2`; at 0.5 squared lengths are kept within a half.""",
    "eps_below": """\
eps : float
    For "theorem": the eigenvalues of `V'RR'V` stay above `1 - eps`.""",
    "delta": """\
delta : float
    The probability with which the promise may fail; the number of draws grows with its
    logarithm only.""",
    "rescale": """\
rescale : bool
    Multiply the chosen columns by the square roots of their weights, as the theory
    does. By default they stay as they are: in the selection study a machine erred as much or more with weights.""",
    "exchange": """\
exchange : bool
    At the end, exchange chosen columns for others as long as the smallest eigenvalue of
    the plain columns rises, and leave all weights one. For those who use the columns as
    they are. What is promised then is little, and what is measured usually much; no
    `score_func` and no `rescale` go with it, nor blocks of features, nor constraints
    beside `exclude`.""",
    "random_state": """\
random_state : int, RandomState or None
    The seed; a number gives the same result every time.""",
    "verbose": """\
verbose : int
    1 shows progress. Without it a warning says, after the first steps, where the fit
    will take long.""",
    "selection": """\
selected_ : array of int, shape (n_selected,)
    The chosen features in the order picked.
weights_ : array, shape (n_selected,)
    Their weights, the squares of the rescaling factors.
certificate_ : Certificate
    What the selection preserves, measured on `X`, beside what its theorem promises.
sampling_ : Sampling
    The selection as an object that applies it to other data.
support_ : array of bool, shape (n_features,)
    True for the chosen features.""",
    "draws": """\
leverage_scores_ : array, shape (n_features,)
    For the certified rank.
n_draws_ : int
    How many draws were made, repeats counted. Where `n_features_to_select` is a number
    and some features were drawn more than once, it is larger.""",
    "classes": """\
classes_ : array, shape (n_classes,)
    In the library of `X` if the labels are numbers.""",
    "linear_classifier": """\
coef_ : array, shape (1, n_features) or (n_classes, n_features)
    In the library and the precision of `X`.
intercept_ : array, shape (1,) or (n_classes,)""",
    "programs": """\
n_iter_ : int
    The number of linear programs solved.
dual_gap_ : float
    The duality gap, relative to the objective: the largest of all programs. A
    `ConvergenceWarning` says that it is above 1e-6.
objectives_ : list of float
    After each program, for the class that took most.""",
    "decides": """\
Parameters
----------
X : array, frame or sparse matrix, shape (n_samples, n_features)

Returns
-------
array, shape (n_samples,) or (n_samples, n_classes)""",
    "labels": """\
Parameters
----------
X : array, frame or sparse matrix, shape (n_samples, n_features)

Returns
-------
array, shape (n_samples,)
    In the library of `X` if the labels are numbers.""",
    "on_host": """\
All is computed on the CPU: arrays of a device are copied there, and the result stays
there.""",
    "solved_on_host": """\
The solver runs on the CPU: what it needs of arrays of a device is copied there, and
its results are copied back.""",
    "display": """\
ax_ : matplotlib axes
    Where the last `plot` drew.
figure_ : matplotlib figure""",
    "elimination_parameters": """\
n_features_to_select : int, float, "auto", "change-point" or None
    How many features to keep, or which fraction of them; half unless given. "auto": the
    fewest that predict rows left out within one standard error of the best number, in
    five folds; it takes about six times as long, and `size_path_` is what it saw.
    "change-point": as many as are left where the objective bends (`change_point`). Both
    go the whole path, down to no feature.
kernel : "rbf", "linear", "poly", "chi2", callable or kernel object
    A callable is a function of two matrices, as in scikit-learn's `SVC`; it returns the
    kernel matrix of their rows.
gamma : float, "scale" or "auto"
    Of "rbf", "poly" and "chi2", as in scikit-learn: `exp(-gamma |x - z|^2)`.
degree : int
    Of "poly".
coef0 : float
    Of "poly".
loss : str or Loss
    For labels "hinge", "squared_hinge", "log_loss", "smoothed_hinge" or
    "huberised_hinge"; for numbers "epsilon_insensitive" or "squared_error". Or an
    object like `fsel_book.losses.SmoothedHinge(0.1)`.
C : float
    As in scikit-learn's `SVC` and `SVR`: the weight of the loss of each sample against
    `|f|^2 / 2`.
epsilon : float
    Half the width of the tube of "epsilon_insensitive".
fit_intercept : bool
n_landmarks : int or None
    For tens of thousands of samples: the model is a sum over so many of them, drawn at
    random, in place of all. Time and memory then grow by the samples times this number,
    not by their square. The objectives are exact for such models, and above those of
    models over all samples; `objective_bounds_` says by how much at most. Without an
    effect where there are no more samples than that. "log_loss" and "huberised_hinge"
    take a half to a seventh of the time of "hinge" (e-mails, Gaussian features). Not for
    a callable kernel.
random_state : int, RandomState or None
    The seed of that draw; a number gives the same result every time.""",
    "elimination_attributes": """\
support_ : array of bool, shape (n_features,)
ranking_ : array of int, shape (n_features,)
    1 for chosen features, 2 for the last one removed, and so on.
elimination_order_ : array of int
objective_path_ : array
    The objective `|f|^2 / (2 C W) + mean loss`, `W` the number of samples or the sum of
    their weights, with all features and after each step; the sum over classes if there
    are more than two.
increments_ : array
    Its differences.
n_features_path_ : array of int
    How many features were left at each of these. With "auto" and "change-point" the path
    and the order go on to the end.
n_refits_ : int
    Fits of machines.
n_features_ : int
    How many features are left.
size_path_ : SizePath
    The scores of all numbers on rows left out. Only there with "auto".
landmarks_ : array of int, shape (n_landmarks,)
    The samples that were drawn, as rows of `X`. Only there where some were.
objective_bounds_ : array, shape (2,)
    What the objective with the chosen features would be at least and at most, in the
    unit of `objective_path_`, if the model were a sum over all samples. The upper bound
    is that of the model at hand. Only there with `landmarks_`.""",
    "machine_attributes": """\
kernel_ : kernel object
dual_coef_, intercept_ : array
    Of the machines on the chosen features.
classes_ : array
    For the losses for labels. As all arrays here in the library of `X`, if the labels
    are numbers.""",
    "features_in": """\
n_features_in_ : int
    The number of features of `X`.
feature_names_in_ : ndarray of str
    Where `X` had names.""",
}

_Documented = TypeVar("_Documented")


def insert_docs(thing: _Documented) -> _Documented:
    """A class or function with each line `%(name)s` of its docstring replaced by that
    entry of `DOCS`, as far indented.
    """
    if thing.__doc__:  # there is none under `python -OO`
        thing.__doc__ = re.sub(
            r"^( *)%\((\w+)\)s$",
            lambda line: indent(DOCS[line[2]], line[1]),
            thing.__doc__,
            flags=re.MULTILINE,
        )
    return thing
