"""Package metadata: everything comes from settings.ini."""

from configparser import ConfigParser
from pathlib import Path
from re import Match, sub

from setuptools import setup
from setuptools.command.build_py import build_py

here = Path(__file__).parent
parser = ConfigParser(delimiters=["="])
parser.read(here / "settings.ini", encoding="utf-8")
settings = parser["DEFAULT"]
suffix = "_requirements"


def description(readme: str, address: str) -> str:
    """README.md for a page without the repository beside it: links and pictures are
    taken from the `address` of it.

    As long as it has none, the words of a link stay, and of a picture what it shows, in
    words.
    """

    def elsewhere(found: Match) -> str:
        mark, words, path = found.groups()
        if address:
            return f"{mark}[{words}]({address}/{'raw' if mark else 'blob'}/v{settings['version']}/{path})"
        return f"*Picture: {words}*" if mark else words

    return sub(r"(!?)\[([^]]*)\]\((?!http)([^)]*)\)", elsewhere, readme)


class BuildWithoutIndex(build_py):
    """Leaves out nbdev's index of the notebooks, which nobody needs who has none."""

    def find_package_modules(
        self, package: str, package_dir: str
    ) -> list[tuple[str, str, str]]:
        """The modules of a package, each as package, name and path."""
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[1] != "_modidx"]


setup(
    version=settings["version"],
    description=settings["description"],
    long_description=description(
        (here / "README.md").read_text(encoding="utf-8"), settings["git_url"]
    ),
    long_description_content_type="text/markdown",
    author=settings["author"],
    license_expression=settings["license"],
    license_files=["LICENSE"],
    project_urls={"Source": settings["git_url"]} if settings["git_url"] else {},
    keywords=settings["keywords"].split(),
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: " + settings["audience"],
        "Natural Language :: " + settings["language"],
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3 :: Only",
        *(
            "Programming Language :: Python :: " + version
            for version in settings["pythons"].split()
        ),
        "Topic :: Scientific/Engineering",
        "Typing :: Typed",
    ],
    packages=["fsel_book", "fsel_book.papers"],
    package_data={"fsel_book": ["py.typed", "records/*"]},
    install_requires=settings["requirements"].split(),
    extras_require={
        key.removesuffix(suffix): value.split()
        for key, value in settings.items()
        if key.endswith(suffix)
    },
    cmdclass={"build_py": BuildWithoutIndex},
    zip_safe=False,
)
