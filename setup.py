"""Package metadata: everything comes from settings.ini."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import setup

here = Path(__file__).parent
parser = ConfigParser(delimiters=["="])
parser.read(here / "settings.ini", encoding="utf-8")
settings = parser["DEFAULT"]
suffix = "_requirements"

setup(
    version=settings["version"],
    description=settings["description"],
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=settings["author"],
    license=settings["license"],
    keywords=settings["keywords"].split(),
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: " + settings["audience"],
        "Natural Language :: " + settings["language"],
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering",
        "Typing :: Typed",
    ],
    packages=["fsel_book"],
    package_data={"fsel_book": ["py.typed"]},
    install_requires=settings["requirements"].split(),
    extras_require={
        key.removesuffix(suffix): value.split() for key, value in settings.items() if key.endswith(suffix)
    },
    entry_points={"nbdev": ["fsel_book=fsel_book._modidx:d"]},
    zip_safe=False,
)
