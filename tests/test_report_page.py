"""The page of a report, as a browser gets it."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from fsel_book import report
from fsel_book.comparison import METHODS, ComparedMethods, Question
from fsel_book.report_page import curve, in_frame, page_of


@pytest.fixture(scope="module", params=[load_breast_cancer, load_diabetes])
def found(request):
    frame = request.param(as_frame=True).frame.sample(120, random_state=0)
    return report(frame, "target")


def pictures(page):
    return [
        ElementTree.fromstring(text)
        for text in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    ]


def test_there_is_a_picture_for_wide_screens_and_one_for_phones(found):
    page = page_of(found)
    broad, narrow = pictures(page)
    widths = [float(one.get("viewBox").split()[2]) for one in (broad, narrow)]
    assert widths[0] > 600 and widths[1] < 340
    names = [
        [one.get("id") for one in picture.iter() if one.get("id")]
        for picture in (broad, narrow)
    ]
    assert not set(names[0]) & set(names[1])
    for picture, own in zip((broad, narrow), names, strict=True):
        text = ElementTree.tostring(picture, "unicode")
        used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
        assert used and {one or other for one, other in used} <= set(own)


def test_a_picture_takes_the_ink_of_the_page(found):
    drawn = curve(found.comparison, len(found.chosen), 9, 4)
    colours = set(re.findall(r"(?:fill|stroke): ?(#\w{6})", drawn))
    # black or white would be lost on one of the papers
    assert not colours & {"#000000", "#ffffff"} and "currentColor" in drawn
    assert all(
        any(method_colour in drawn for method_colour in colours) for _ in METHODS
    )


def test_what_is_chosen_and_the_mean_are_within_the_picture():
    """Also where nothing is better than the mean, and all is far below it."""
    question = Question(np.arange(20.0), None, None, "R²", 0.0)
    for shift in (0.0, -2.0, 0.9):
        scores = {
            (method, r): np.full(5, 0.01 * r + shift)
            for method in METHODS
            for r in (1, 2, 3)
        }
        scores["all columns", 4] = np.full(5, shift)
        comparison = ComparedMethods(question, [1, 2, 3], 4, scores, 0.25, 0.5)
        drawn = curve(comparison, 2, 9.0, 4.2)
        (picture,) = pictures(drawn)
        height = float(picture.get("viewBox").split()[3])
        levels = [
            float(y)
            for one in picture.iter()
            if one.tag.endswith("path") and "clip-path" in one.attrib
            for y in re.findall(r"[ML] [-\d.]+ ([-\d.]+)", one.get("d"))
        ]
        assert len(levels) > 10
        assert 0 <= min(levels) and max(levels) <= height
        ringed = [one for one in picture.iter() if one.tag.endswith("use")]
        assert all(0 <= float(one.get("y", 0)) <= height for one in ringed)


def test_letters_of_a_picture_are_large_enough(found):
    """On a phone of 390 pixels, with margins of 16."""
    for width, height, screen in ((9.0, 4.2, 860), (4.4, 4.0, 358)):
        drawn = curve(found.comparison, len(found.chosen), width, height)
        sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawn)]
        assert sizes and min(sizes) * min(1, screen / (72 * width)) >= 10


def test_every_section_has_a_heading_and_every_table_a_head(found):
    page = page_of(found)
    assert page.count("<h1>") == 1 and page.count("<h2>") == 5
    assert page.count("<table") == page.count("<thead>")
    assert "lang='en'" in page and "viewport" in page


def test_in_a_notebook_the_page_has_a_frame_of_its_own(found):
    text = in_frame(page_of(found))
    assert text.count("<iframe") == 1 and "<style" not in text
    assert found._repr_html_() == text
