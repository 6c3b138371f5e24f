"""The page of the service in a real browser, while a stream runs: `make browser`, or `pytest -m browser`.

It needs Debian's chromium and the package playwright, and is no part of `make test`.
"""

import re
import shutil
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pytest

pytestmark = pytest.mark.browser

TOKEN = "a-token-for-the-tests"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
DAY = 86_400.0
BEGIN = 20_000 * DAY
SETTINGS = {
    "learner": "koil",
    "parameters": {"budget": 30},
    "labels": ["honest", "fraud"],
    "positive": "fraud",
    "decision": {"alerts": "40/day"},
}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
]


def wait_until(is_so, seconds=30.0):
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)
    return found


class Stream(threading.Thread):
    """Events over HTTP, ten at a time, 500 a day of their own time; every other alert gets its label by hand only."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.ending, self.n = client, threading.Event(), 0
        self.rng = np.random.default_rng(0)

    def run(self):
        while not self.ending.wait(0.1):
            self.step()

    def step(self):
        kinds = self.rng.random(10) < 0.1
        events = [
            {
                "id": f"e/{self.n + k}",
                "time": BEGIN + (self.n + k) * DAY / 500.0,
                "columns": {"amount": float(self.rng.normal(3.0 * kind)), "shop": f"<b>{self.rng.integers(5)}</b>"},
            }
            for k, kind in enumerate(kinds)
        ]
        self.n += 10
        answers = self.client.post("/models/cards/events", json=events).raise_for_status().json()["answers"]
        labels = [
            {"id": answer["id"], "label": "fraud" if kind else "honest", "time": BEGIN + self.n * DAY / 500.0}
            for k, (answer, kind) in enumerate(zip(answers, kinds, strict=True))
            if not answer["alert"] or k % 2
        ]
        if labels:
            self.client.post("/models/cards/labels", json=labels).raise_for_status()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    (folder / "tokens").write_text(f"{TOKEN} admin\n")
    command = [sys.executable, "-m", "lopsided", "serve", "--port", "0", "--data-dir", folder / "data"]
    command += ["--tokens", folder / "tokens"]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://\S+", process.stdout.readline()).group(0)
            with httpx.Client(base_url=address, headers=HEADERS, timeout=60.0) as client:
                yield from _streaming(client)
        finally:
            process.terminate()
            assert process.wait(timeout=60) == 0


def _streaming(client):
    wait_until(lambda: client.get("/readyz").status_code == 200)
    client.put("/models/cards", json=SETTINGS).raise_for_status()
    client.put("/models/cards/challenger", json={"learner": "oilk", "parameters": {"budget": 20}}).raise_for_status()
    stream = Stream(client)
    for _ in range(60):
        stream.step()
    wait_until(
        lambda: state_of(client)["status"] == "live" and state_of(client)["challenger"] is not None, seconds=240.0
    )
    stream.start()
    wait_until(lambda: state_of(client)["champion"]["measures"]["alert_precision"] is not None, seconds=120.0)
    try:
        yield client
    finally:
        stream.ending.set()
        stream.join()


def state_of(client):
    return client.get("/models/cards").json()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        assert path, "chromium must be installed: apt-get install chromium"
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, service):
    """Opens the page, with the token typed in; whatever fails in it, or is asked of another host, fails the test."""
    pages, wrong = [], []

    def opening(width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        pages.append(page)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith(str(service.base_url)) or wrong.append(asked.url))
        page.goto(str(service.base_url))
        page.locator("#token").fill(TOKEN)
        page.keyboard.press("Enter")
        page.locator('#status[data-is="live"]').wait_for()
        page.locator("#scores-chart rect").first.wait_for(state="attached")
        return page

    yield opening
    for page in pages:
        page.close()
    assert [url for url in wrong if not url.startswith("data:")] == []


def field(page, name):
    return page.locator(f'[data-field="{name}"]').first.inner_text()


def with_alerts(page):
    """The first row of a day that has some that wait for a label."""
    waiting = page.locator("#alert-list > li:has(.verdict button)")
    for _ in range(5):
        page.wait_for_timeout(1000)
        if waiting.count() >= 3:
            return waiting
        page.locator("#day-before").click()
    raise AssertionError("there must be alerts to label")


def test_numbers_on_the_page_are_those_of_the_api_while_the_stream_runs(opened, service):
    page = opened()
    before = state_of(service)

    def is_equal():
        shown = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('[data-field]')]"
            ".map(e => [e.dataset.field, e.textContent]))"
        )
        state = state_of(service)
        measures = state["champion"]["measures"]
        if page.evaluate("document.documentElement.dataset.measured") != str(measures["labels"]):
            return False  # one of them is a second ahead
        for name in ("auroc", "average_precision", "alert_precision"):
            if measures[f"{name}_interval"] is None:
                return False  # the first labels
            ends = " – ".join(f"{end:.3f}" for end in measures[f"{name}_interval"])
            if (shown[name], shown[f"{name}_interval"]) != (f"{measures[name]:.3f}", ends):
                return False
        for who in ("champion", "challenger"):
            if shown[f"{who}.auroc"] != f"{state[who]['measures']['auroc']:.3f}":
                return False
        return before["events"] < int(shown["events"].replace(",", "")) <= state["events"]

    wait_until(is_equal, seconds=60.0)
    first = page.locator("#auroc-chart path.curve").first.get_attribute("d")
    wait_until(lambda: page.locator("#auroc-chart path.curve").first.get_attribute("d") != first)  # it grows
    assert re.fullmatch(r"(Today, )?\w+ \d+ \w+", page.locator("#day-name").inner_text())
    assert page.locator("#day-name").get_attribute("data-day") <= state_of(service)["day"]
    days = page.evaluate("[...document.querySelectorAll('#drift-chart text')].map(e => e.textContent)")
    assert "5 Oct" in days and "00:00" not in days  # of a few days, too


def labelled(service, name):
    """The label of an event, once the model has learned it."""
    event = service.get(f"/models/cards/events/{httpx.URL(name).raw_path.decode()}").json()
    return event["label"]


def test_a_label_given_by_hand_arrives_in_the_model(opened, service):
    page = opened()
    waiting = with_alerts(page)
    name = waiting.first.get_attribute("data-id")
    row = page.locator(f'#alert-list > li[data-id="{name}"]')
    row.locator(".verdict .yes").click()
    page.locator("#said", has_text=f"{name} is fraud: learned").wait_for()
    row.locator(".chip.positive", has_text="fraud").wait_for()
    assert labelled(service, name) == "fraud"
    learned = state_of(service)["sequence"]
    wait_until(lambda: state_of(service)["learned"] >= learned)

    page.keyboard.press("j")
    focused = "document.activeElement.closest('li').dataset.id"
    page.wait_for_function(f"document.activeElement.closest('li') && {focused} !== {name!r}")
    while page.evaluate("document.activeElement.closest('li').querySelector('.chip') !== null"):
        page.keyboard.press("j")
    other = page.evaluate(focused)
    page.keyboard.press("n")
    page.locator("#said", has_text=f"{other} is honest: learned").wait_for()
    assert labelled(service, other) == "honest"

    # Another label for the same event is refused, unless it is said that the first was wrong.
    page.keyboard.press("p")
    page.locator("#said button", has_text="Correct it: fraud").click()
    page.locator("#said", has_text="corrected").wait_for()
    assert labelled(service, other) == "fraud"


def test_a_row_opens_with_its_reasons_and_what_came_is_text_not_markup(opened):
    page = opened()
    row = with_alerts(page).first
    row.locator(".row").click()
    row.locator(".reasons th", has_text="amount").wait_for()
    assert "<b>" in row.locator(".cells").inner_text() and row.locator(".cells b").count() == 0
    row.locator(".row").press("Enter")
    row.locator(".reasons").wait_for(state="detached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1280])
def test_nothing_is_cut_off_on_any_screen(opened, tmp_path, width, scheme):
    from matplotlib.image import imread

    page = opened(width, scheme)
    with_alerts(page).first.locator(".row").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    beyond = page.evaluate(
        "[...document.querySelectorAll('main svg text, main dd, main h2, main button')]"
        ".filter(e => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.textContent)"
    )
    assert beyond == []
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    background = float(np.median(imread(tmp_path / "page.png")[..., :3].mean(axis=2)[:, :3]))
    assert background > 0.9 if scheme == "light" else background < 0.15


def test_promotion_is_asked_for_once_and_then_done(opened, service):
    page = opened()
    page.locator("#promote").click()
    page.locator("#promote-dialog button", has_text="Cancel").click()
    assert state_of(service)["challenger"]["learner"] == "oilk"
    page.locator("#promote").click()
    page.locator("#promote-yes").click()
    page.locator("#said", has_text="The challenger answers from now on").wait_for()
    wait_until(lambda: state_of(service)["champion"]["learner"] == "oilk" and state_of(service)["challenger"] is None)
    page.locator("#rivals", has_text="No challenger watches").wait_for()
