"""Part seven: what importing the package costs."""

import subprocess
import sys

from rows import Row, nothing, timed

title = "Part seven: the import"


def importing(data):
    """A fresh process that imports the package, and one that imports a part of
    scikit-learn.
    """

    def fresh(module):
        return timed(
            lambda: (
                subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
                and None
            )
        )

    return fresh("fsel_book"), fresh("sklearn.feature_selection"), nothing


rows = [
    Row(
        "import",
        "`import fsel_book`",
        "`import sklearn.feature_selection`",
        "Each in a fresh process, with the start of Python.",
        importing,
        "",
        {},
        {},
        1.3,
        at_least=False,
        repeats=7,
    ),
]
