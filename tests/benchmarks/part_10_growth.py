"""Part ten: the default fit as the number of samples grows."""

from part_1_spine import default_fit_against_qr, gauss, qr, whole
from rows import Row

title = "Part ten: more and more samples"

rows = [
    Row(
        f"growth-{n}",
        "`BSSSelector().fit`",
        f"pivoted QR: {qr}",
        f"{whole} Half of the features and the rank that goes with them by default, {rank}.",
        default_fit_against_qr,
        gauss,
        dict(n=n, d=20_000),
        dict(n=30, d=400),
        3,
        at_least=False,
        repeats=repeats,
        threads=(1,),
        prediction=f"{ratio}: 10,000 steps of {step}",
    )
    for n, rank, step, ratio, repeats in (
        (500, 500, "0.8 ms", 11, 3),
        (1000, 1000, "2.8 ms", 8, 1),
        (2000, 2000, "13 ms", 9, 1),
        (4000, 2500, "21 ms", 5, 1),
    )
]
