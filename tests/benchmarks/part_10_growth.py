"""Part ten: a fit of half of the features as the number of samples grows."""

from part_1_spine import default_fit_against_qr, gauss, qr, whole
from rows import Row

title = "Part ten: more and more samples"

rows = [
    Row(
        f"growth-{n}",
        "`BSSSelector(0.5, rank=100).fit`",
        f"pivoted QR: {qr}",
        f"{whole} Half of the features.",
        default_fit_against_qr,
        gauss,
        dict(n=n, d=20_000),
        dict(n=30, d=400),
        3,
        at_least=False,
        repeats=5,
        threads=(1,),
        prediction=f"{ratio}: 10,000 steps of 0.35 ms, and {rest} for the directions",
    )
    for n, ratio, rest in (
        (500, 3.2, "0.3 s"),
        (1000, 0.9, "0.6 s"),
        (2000, 0.3, "1.5 s"),
        (4000, 0.15, "3 s"),
    )
]
