"""The notebooks as a person opens them: each in JupyterLab, in a browser, untrusted.

`make test-lab` runs these tests; `make test` leaves them out, since they take minutes.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1200)]

root = Path(__file__).resolve().parent.parent
notebooks = sorted((root / "nbs").glob("*.ipynb"))
names = [path.name for path in notebooks]
every_notebook = pytest.mark.parametrize("name", names)
MINUTES = 2  # that a notebook may run

# Every cell is made at once, and no news asks for an answer.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false"},
}

# What only Quarto and Pandoc read, and numbers that were never put in.
FOREIGN = re.compile(
    r":::|\{#|(?<![\w@.])@(?:sec|thm|lem|prp|cor|def|fig|tbl|eq)-|\[-?@[a-z]+\d|"
    r"\b(?:Theorem|Lemma|Section|Chapter|Equation|Figure|Table) \?"
)


@pytest.fixture(scope="module")
def browser():
    found = filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome")))
    chromium = next(found, None)
    if chromium is None:
        pytest.skip("neither chromium nor google-chrome is on the PATH")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: make test-lab"
    )
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab on copies of the notebooks, and nothing beside them."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    folder = tmp_path_factory.mktemp("reader")
    for path in notebooks:
        shutil.copy(path, folder)
    private = tmp_path_factory.mktemp("private")
    for name, values in SETTINGS.items():
        file = private / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "JUPYTER_DATA_DIR": str(private / "data"),  # where signatures would be
        "JUPYTER_CONFIG_DIR": str(private / "config"),
        "JUPYTERLAB_SETTINGS_DIR": str(private / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(private / "workspaces"),
        "PYTHONPATH": str(root),
    }
    # what a reader's shell does not set; SciPy's docstrings say more with the second
    for name in ("MPLBACKEND", "SCIPY_ARRAY_API"):
        environment.pop(name, None)
    options = ["--no-browser", "--allow-root", f"--port={port}"]
    options += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    options += ["--LabApp.expose_app_in_browser=True"]
    with open(private / "log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=environment,
            stdout=log,
            stderr=log,
        )
    address = f"http://127.0.0.1:{port}"
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{address}/api")
            break
        except urllib.error.URLError:
            time.sleep(0.5)
    yield address
    server.terminate()
    server.wait()


def opened(browser, lab, name, theme="JupyterLab Light"):
    """A page with the notebook in it, rendered to its end."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{lab}/doc/tree/{name}?reset")
    page.wait_for_selector(".jp-Notebook .jp-RenderedMarkdown", timeout=60_000)
    page.evaluate(
        "theme => jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    page.wait_for_function(
        """() => document.querySelector('.jp-Notebook .jp-Cell:last-child') &&
        !document.querySelector('.jp-Notebook .jp-MarkdownOutput:empty')""",
        timeout=60_000,
    )
    page.wait_for_timeout(1500)
    return page


def texts(page):
    """The text of each cell of Markdown as it stands on the page, code left out."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.jp-Notebook .jp-RenderedMarkdown')]
        .map(cell => {
            const copy = cell.cloneNode(true);
            copy.querySelectorAll('code, mjx-container').forEach(e => e.remove());
            return copy.textContent;
        })"""
    )


def stored(name):
    return json.loads((root / "nbs" / name).read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@every_notebook
def test_text_pictures_and_numbers_are_there(browser, lab, name, theme):
    page = opened(browser, lab, name, theme)
    try:
        read = texts(page)
        for text in read:
            assert not FOREIGN.search(text), text[:300]
        numbered = re.findall(
            r"\*\*((?:Theorem|Lemma|Proposition|Corollary|Definition) [\w.]+?)(?: \(|\.\*)",
            "\n".join("".join(cell["source"]) for cell in stored(name)),
        )
        joined = "\n".join(read)
        assert all(f"{number}" in joined for number in numbered)
        pictures = page.evaluate(
            """() => [...document.querySelectorAll('.jp-OutputArea img')]
            .map(img => [img.naturalWidth, img.getBoundingClientRect().width])"""
        )
        expected = sum(
            "image/png" in output.get("data", {})
            for cell in stored(name)
            if not cell["metadata"].get("jupyter", {}).get("outputs_hidden")
            for output in cell.get("outputs", [])
        )
        assert len(pictures) == expected
        assert all(natural > 100 and shown > 100 for natural, shown in pictures)
        assert not page.query_selector(".jp-RenderedText >> text=<Figure size")
        assert not page.query_selector(".jp-RenderedMarkdown mjx-merror")
    finally:
        page.close()


@every_notebook
def test_run_all_ends_and_shows_nothing_red(browser, lab, name):
    page = opened(browser, lab, name)
    try:
        start = time.monotonic()
        # not waited for here, where nothing would end the waiting
        page.evaluate(
            """() => {
                window.hasRun = false;
                jupyterapp.commands.execute('notebook:run-all-cells')
                .finally(() => { window.hasRun = true; });
            }"""
        )
        page.wait_for_function(
            """() => window.hasRun &&
            !jupyterapp.shell.currentWidget.content.widgets
            .some(cell => cell.inputArea?.promptNode.textContent.includes('[*]'))""",
            timeout=1000 * 60 * (MINUTES + 2),
        )
        spent = time.monotonic() - start
        red = page.evaluate(
            """() => jupyterapp.shell.currentWidget.content.widgets
            .filter(cell => cell.model.type === 'code')
            .flatMap(cell => cell.model.outputs.toJSON())
            .filter(out => out.output_type === 'error' || out.name === 'stderr')
            .map(out => out.evalue || String(out.text))"""
        )
        assert not red, red[0][-2000:]
        assert spent < 60 * MINUTES
    finally:
        page.evaluate("() => jupyterapp.serviceManager.sessions.shutdownAll()")
        page.close()


def test_links_lead_to_their_theorem(browser, lab):
    """Within a notebook, and to another one."""
    page = opened(browser, lab, "05_sparsification.ipynb")
    try:
        link = page.locator(".jp-RenderedMarkdown a[href='#thm-bss']").first
        link.click()
        page.wait_for_timeout(1000)
        top = page.evaluate(
            """() => document.querySelector('[data-jupyter-id="thm-bss"]')
            .getBoundingClientRect().top"""
        )
        assert 0 <= top < 900
    finally:
        page.close()
