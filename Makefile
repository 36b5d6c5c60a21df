# Needs Python 3.11 or later, make and a package index; nothing else (make docs: also quarto).
# Everything is installed into .venv, once; each target installs only what it needs. The peers of the benchmarks may ask
# for other versions than the rest, so these have .venv-bench to themselves.
# The embedded documents are the docstrings of SciPy; what the chapters say of them holds for this version.

PYTHON ?= python3
SCIPY := scipy==1.17.*
DATA :=
TARGET :=
LIMIT :=
BENCH :=
NB :=
LAB :=
HEAVY :=
FRESH :=
PYTHONS :=

ifneq ($(words $(CURDIR)),1)
$(error The path of this folder has a space in it: $(CURDIR). Move it to a path without spaces)
endif

export PIP_DISABLE_PIP_VERSION_CHECK := 1
PY := .venv/bin/python
# all that an installation takes from the repository; nbdev_export writes pyproject.toml anew each time
METADATA := settings.ini setup.py
quote = '$(subst ','\'',$(1))'
# The name of a file or a column may have any character, `$` too. These are taken as they were written, never expanded by
# make: neither for the command nor for the environment of the commands.
unexport DATA TARGET LIMIT

.PHONY: help demo test test-all test-package test-processors test-site test-lab hooks sync run lab docs pdf bench lint release clean
.DEFAULT_GOAL := help

help:
	@echo "make demo                           run the quickstart on the embedded documents; pages go to build/"
	@echo "make demo DATA=my.csv TARGET=column the report of a table of yours: build/report.html and build/selected.csv."
	@echo "                                    Parquet of more than LIMIT bytes (a quarter of memory) is read in blocks;"
	@echo "                                    .venv/bin/python -m fsel_book report --help has more options"
	@echo "make test                           all tests: modules in step, notebooks, pytest"
	@echo "make clean test-package SCIPY=      the tests of the package alone, with the newest SciPy"
	@echo "make test-all                       make test, and then the wide sweeps, which it leaves out"
	@echo "make test-processors                the tests of exactness on the BLAS kernels of three families of processors"
	@echo "make test-site                      render the site and look at its pages in Chromium or Chrome (needs quarto)"
	@echo "make test-lab                       open every notebook in JupyterLab, in Chromium or Chrome, and run it"
	@echo "make hooks                          once after cloning: merge notebooks cell by cell, check every commit"
	@echo "make sync                           clean and number the notebooks, export the modules and README.md"
	@echo "make run NB=05_sparsification       run a notebook and store what it gives; HEAVY=1 runs the heavy cells too,"
	@echo "                                    FRESH=1 stores every output, not only those that say something else"
	@echo "make lab                            JupyterLab on a copy of the chapters; LAB='--allow-root --port 8899' goes to it"
	@echo "make docs                           render the site to _docs/ (needs the program quarto)"
	@echo "make pdf                            the book as one PDF, after make docs (needs Chromium or Chrome)"
	@echo "make bench BENCH='...'              timed comparisons, in .venv-bench; BENCH goes to tests/benchmarks/run.py"
	@echo "make lint                           ruff and mypy"
	@echo "make release                        a release up to the upload: build it, try it on each Python; PYTHONS='...' names them"
	@echo "make clean                          remove all that make made, .venv too"
	@echo "PYTHON=/path/to/python3.12          with any of them: the Python to make .venv with"

# .venv/.python is the bare environment; .venv/.NAME says that the extra NAME is installed. So it is for .venv-bench.
.venv/.python .venv-bench/.python:
	@$(PYTHON) -c 'import sys' 2>/dev/null || { \
	    echo "There is no Python to run as '$(PYTHON)'. Install Python 3.11 or later, or name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "'$(PYTHON)' is $$($(PYTHON) -V 2>&1), and fsel_book needs Python 3.11 or later. Name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Making the virtual environment $(@D)"
	@$(PYTHON) -m venv --clear $(@D)
	@touch $@

.venv/.%: .venv/.python $(METADATA)
	@echo "Installing fsel_book[$*] into .venv"
	@$(PY) -m pip install --quiet --editable '.[$*]' $(if $(SCIPY),'$(SCIPY)')
	@touch $@

# The tools for notebooks, lint and commits, without the package and all that it needs: a minute for the first commit.
LINT := import configparser as c; p = c.ConfigParser(delimiters=["="]); p.read("settings.ini", "utf-8"); \
    print(p["DEFAULT"]["lint_requirements"])
.venv/.lint: .venv/.python $(METADATA)
	@echo "Installing the tools of the extra lint into .venv"
	@$(PY) -m pip install --quiet $$($(PY) -c '$(LINT)')
	@touch $@

.venv-bench/.bench: .venv-bench/.python $(METADATA)
	@echo "Installing fsel_book[bench] into .venv-bench"
	@.venv-bench/bin/python -m pip install --quiet --editable '.[bench]'
	@touch $@

demo: .venv/.demo
	@$(PY) tools/demo.py $(call quote,$(value DATA)) $(call quote,$(value TARGET)) $(if $(value LIMIT),--limit $(call quote,$(value LIMIT)))

# First what can be read off the files (exported modules in step, the rules of the house), then the notebooks
# and then the rest, each two at a time on one BLAS thread.
test: export MPLBACKEND := agg
test: .venv/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -q -n 2 tests/test_book.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/nbdev_test --n_workers 2 --timing
	@$(MAKE) --no-print-directory test-package

# The last part of `make test` alone, which holds for every version of SciPy. Another one takes a new environment.
test-package: .venv/.dev
	MPLBACKEND=agg OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -q -n 2 --dist loadfile --ignore=tests/test_book.py tests

# Each sweep is more of what some test of `make test` checks on less.
test-all: test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -q -n 2 -m sweep tests

# OpenBLAS picks its kernels by the processor, and each rounds in its own way. What is said to be exact must be so on all.
test-processors: .venv/.dev
	for kind in Haswell Zen SkylakeX; do \
	    echo "OPENBLAS_CORETYPE=$$kind"; \
	    if [ $$kind = SkylakeX ] && ! grep -qsw avx512bw /proc/cpuinfo; then \
	        echo "left out: this processor has no AVX-512, which these kernels use"; continue; \
	    fi; \
	    OPENBLAS_CORETYPE=$$kind OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -q -m exact tests || exit 1; \
	done

# What `make test` skips unless quarto, a browser and this extra are there. The pages load MathJax from the net, or
# from the folder with a copy of it that FSEL_BOOK_MATHJAX names.
test-site: .venv/.dev .venv/.site
	$(PY) -m pytest -q tests/test_site.py tests/test_rendered.py

# What a person sees who opens the notebooks: each in JupyterLab, in Chromium or Chrome.
test-lab: .venv/.dev .venv/.book .venv/.site
	$(PY) -m pytest -q -m lab tests/test_jupyter.py

lab: .venv/.book
	@$(PY) tools/lab.py $(LAB)

docs:
	@command -v quarto >/dev/null || { \
	    echo "make docs needs the program quarto, which is not on the PATH: https://quarto.org/docs/get-started/. All else here does without it." >&2; exit 1; }
	@$(MAKE) --no-print-directory .venv/.docs
	$(PY) tools/reference.py nbs/reference
	rm -rf _proc
	PATH="$(CURDIR)/.venv/bin:$$PATH" nbdev_proc_nbs
	cp -R nbs/reference _proc/
	$(PY) tools/quarto.py _proc
	$(PY) tools/pages.py _proc
	mkdir _proc/notebooks && cp nbs/*.ipynb _proc/notebooks/
	cd _proc && quarto render --no-cache
	rm -rf _docs && mv _proc/_docs _docs
	$(PY) tools/split.py _docs
	$(PY) tools/search.py _docs
	$(PY) tools/finish.py _docs
	$(PY) -m pip wheel --quiet --no-deps --wheel-dir _docs .
	@echo "The site is _docs/index.html"

# The chapters of the site, printed by Chromium or Chrome into one file with an outline.
pdf: .venv/.docs .venv/.site
	@test -e _docs/index.html || { echo "make pdf prints the site: run make docs first" >&2; exit 1; }
	$(PY) tools/pdf.py _docs _docs/fsel_book.pdf

bench: .venv-bench/.bench
	.venv-bench/bin/python tests/benchmarks/run.py $(BENCH)

lint: .venv/.lint
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

release: .venv/.python
	@$(PY) tools/release.py $(PYTHONS)

sync: .venv/.lint
	.venv/bin/nbdev_clean
	$(PY) tools/renumber.py
	.venv/bin/nbdev_export
	$(PY) tools/readme.py
	$(PY) tools/imports.py
	$(PY) tools/chapters.py

run: .venv/.dev
	$(PY) tools/run.py $(NB) $(if $(HEAVY),--heavy) $(if $(FRESH),--fresh)
	.venv/bin/nbdev_clean

hooks: .venv/.lint
	git config merge.nbdev-merge.name "notebooks, cell by cell"
	git config merge.nbdev-merge.driver '.venv/bin/nbdev_merge %O %A %B %P'
	$(PY) -m pre_commit install

clean:
	rm -rf .venv .venv-bench build _docs _proc nbs/reference nbs/nbdev.yml *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
