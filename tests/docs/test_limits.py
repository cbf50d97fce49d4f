"""Limits that sentences of the pages give are those of the code."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from tests.docs.pages_of import page

from vidscore_cli import webhook
from vidscore_cli.bridge import mqtt, running, sources
from vidscore_cli.commands import doctor
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_server import executors, start, status, workers
from vidscore_server.api import guard, requests
from vidscore_server.application import CLOSE_GRACE_S
from vidscore_server.domain import (
    browser_sessions,
    invitations,
    plug_ins,
    release,
    schedule,
    scoring,
    sessions,
    tiers,
)
from vidscore_server.web.site import checking, kept_pictures, protection, serving, spool, visit

WORDS = {
    "a": 1,
    "two": 2,
    "three": 3,
    "five": 5,
    "seven": 7,
    "eight": 8,
    "ten": 10,
    "twenty": 20,
}
FRACTIONS = {"quarter": 4, "eighth": 8}
UNITS = {
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "second": 1,
    "s": 1,
    "minute": 60,
    "min": 60,
    "day": 86_400,
    "week": 7 * 86_400,
}
SENTENCES = (
    ("site.md", "After (.+?) wrong tokens", protection.MOST_TRIES),
    ("site.md", "wrong tokens a host must wait for (.+?)\\.", protection.PAUSE_S),
    (
        "site.md",
        "when the browser closes, and after (.+?)\\.",
        browser_sessions.LIFETIME,
    ),
    ("site.md", "They wait for (.+?), in a folder", spool.KEPT_S),
    ("site.md", "A team has room for (.+?) files of the largest", spool.SHARE_OF_TEAM),
    ("site.md", "and the server for (.+?);", spool.SHARE_OF_ALL),
    ("site.md", "Forms and pieces must arrive within (.+?) per MiB", visit.FORM_TIMEOUT_S),
    ("site.md", "files come in pieces of (.+?);", spool.CHUNK_BYTES),
    ("site.md", "A submission of more than (.+?) frames", kept_pictures.MOST_FRAMES),
    ("site.md", "or a sequence of more than (.+?) objects", kept_pictures.MOST_ROWS),
    ("server.md", "its HTTP API \\| (.+?);", serving.MOST_CONNECTIONS),
    ("server.md", "(\\S+ \\S+) for a complete request head", serving.HEAD_TIMEOUT_S),
    ("server.md", "being sent to the site \\| (.+?) per host", protection.MOST_FORMS_OF_HOST),
    ("server.md", "if more than an (.+?) of the places wait", sessions.LATE_SHARE),
    (
        "server.md",
        "health checks as streams .+? for one host \\| (.+?) \\|",
        guard.WATCH_LIFETIME_S,
    ),
    ("server.md", "v1alpha together .+? for one host \\| (.+?) \\|", guard.STREAM_LIFETIME_S),
    ("server.md", "plain health checks \\| .+? \\| (.+?) \\|", guard.PLAIN_LIFETIME_S),
    ("server.md", "unless it is a text of less than (.+?),", checking.SMALL_BYTES),
    ("server.md", "\\(on Linux\\) and (.+?); its result", checking.READ_TIMEOUT_S),
    ("server.md", "its result for the server may take a (.+?) of that", checking.UNPACKED_SHARE),
    ("server.md", "tried once more after (.+?); then a stream", workers.REFUSED_PAUSE_S),
    ("server.md", "the cluster is tried again after (.+?) \\|", executors.RETRY_S),
    ("operations.md", "warns (.+?) before", doctor.EXPIRY_WARNING),
    (
        "operations.md",
        "difference of the clocks; warns from (.+?) on",
        doctor.CLOCK_WARNING,
    ),
    ("operations.md", "fails from (.+?) on", doctor.CLOCK_FAILURE),
    ("operations.md", "`drain_timeout_s` plus (.+?), or", CLOSE_GRACE_S + start.ENDING_S),
    ("hidden-truth.md", "After (\\w+) such deaths it is scored alone", scoring.ALONE_AFTER),
    ("hidden-truth.md", "pauses of 1 to (.+?) between", scoring.LONGEST_PAUSE_S),
    ("hidden-truth.md", "clients have another (.+?) to reconnect", schedule.GRACE),
    ("hidden-truth.md", "with at most (.+?) points", release.MOST_CURVE_POINTS),
    ("hidden-truth.md", "for fewer than (.+?) sequences", tiers.SEQUENCES_OF_PROBABILITIES),
    ("hosting.md", "Tiers cover the best (.+?) systems", tiers.MOST_SYSTEMS),
    (
        "hosting.md",
        "after its lifetime \\((.+?) by default",
        invitations.DEFAULT_LIFETIME,
    ),
    ("adding-an-evaluator.md", "`faults` has (.+?) for a batch", plug_ins.CHECK_S),
    ("wire-protocol.md", "Pages have (.+?) evaluators", requests.DEFAULT_PAGE_SIZE),
    (
        "wire-protocol.md",
        "`page_size` says otherwise, and at most (.+?)\\.",
        requests.MAXIMUM_PAGE_SIZE,
    ),
    ("wire-protocol.md", "the first (\\w+) field violations", status.VIOLATIONS_LISTED),
    ("feeds.md", "At most (.+?) connections are open", sources.MOST_CONNECTIONS),
    ("feeds.md", "in memory, at most (.+?) messages", mqtt.MOST_UNKEPT),
    ("feeds.md", "messages and (.+?); those beyond", mqtt.MOST_UNKEPT_BYTES),
    ("feeds.md", "waits at most (.+?); the exit code", running.STOP_S),
    ("pipe.md", "A post is tried at most (.+?) times", 1 + len(webhook.PAUSES_S)),
    ("pipe.md", "times, (.+?) each, with pauses", webhook.TIMEOUT_S),
    ("formats.md", "limits packed input to (.+?) per file", ReadLimits().maximum_file_bytes),
    ("formats.md", "for an archive, (.+?) and 100,000 files", ReadLimits().maximum_unpacked_bytes),
    ("formats.md", "8 GiB and (.+?) files in total", ReadLimits().maximum_files),
)


@pytest.mark.parametrize(("name", "sentence", "value"), SENTENCES)
def test_a_limit_in_a_sentence_is_that_of_the_code(
    name: str, sentence: str, value: float | timedelta
) -> None:
    text = re.sub(r"\s+", " ", page(name))
    found = re.findall(sentence, text)
    assert found, sentence
    limit = value.total_seconds() if isinstance(value, timedelta) else value
    assert number_of(found[0]) == limit


def number_of(text: str) -> float:
    """A number in digits or in a word, in bytes or seconds if it has a unit; `quarter` is 4."""
    for known in (FRACTIONS, UNITS):
        if text in known:
            return known[text]
    amount, _, unit = text.partition(" ")
    number = WORDS[amount] if amount in WORDS else int(amount.replace(",", ""))
    if not unit:
        return number
    return number * (UNITS[unit] if unit in UNITS else UNITS[unit.removesuffix("s")])
