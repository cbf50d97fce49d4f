"""Pages of tokens, invitations and the audit record."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from tests.server.web.site.browsing import Browser, Browsing

from vidscore_server.web.site.organise.audit import COLUMNS, _lines

TOKENS, INVITATIONS = "/organise/tokens", "/organise/invitations"


async def test_the_secret_of_a_token_is_shown_once(site: Browsing) -> None:
    form = await site.organiser.get(TOKENS)
    page = await site.organiser.send(
        form, TOKENS, role="participant", team="green", comment="for green", lifetime="2"
    )
    [secret] = re.findall(r"vidscore_[0-9a-f]{16}_[0-9a-f]{64}", page.text)
    assert "for green is ready" in page.words
    assert "Team green" in (await Browser(site.nobody.base).sign_in(secret)).words
    again = await site.organiser.get(TOKENS)
    assert secret not in again.text
    assert "3 May 2026, 12:00 UTC" in again.words


async def test_an_organiser_revokes_a_token(site: Browsing) -> None:
    await site.red.signed_in()
    page = await site.organiser.get(TOKENS)
    name = f"tokens/{site.hosted.red.secret.split('_')[1]}"
    page = await site.organiser.send(page, f"{TOKENS}/revoke", name=name)
    assert "revoked" in page.words
    assert "Your session has ended" in (await site.red.get("/benchmarks")).words


async def test_faults_of_a_token_are_shown_beneath_their_fields(site: Browsing) -> None:
    form = await site.organiser.get(TOKENS)
    page = await site.organiser.send(form, TOKENS, role="participant", team="Green Team")
    assert page.status == 400
    assert 'id="team-fault-1"' in page.text
    assert 'value="Green Team"' in page.text
    for lifetime in ("soon", "0", "36526", "nan"):
        page = await site.organiser.send(form, TOKENS, role="viewer", lifetime=lifetime)
        assert "expected a number of days above 0 and up to 36,525, or nothing" in page.words
    assert page.status == 400
    assert 'id="lifetime-fault-1"' in page.text


async def _invited(site: Browsing, teams: str = "green\nteal") -> list[str]:
    """Links of invitations, as paths."""
    form = await site.organiser.get(INVITATIONS)
    page = await site.organiser.send(form, INVITATIONS, teams=teams, lifetime="3")
    assert page.status == 200
    return re.findall(r"/invitations/vidscore_i_[0-9a-f]{16}_[0-9a-f]{64}", page.text)


async def test_each_team_gets_a_link_that_creates_its_token_once(site: Browsing) -> None:
    links = await _invited(site)
    assert len(links) == 2
    browser = Browser(site.nobody.base)
    page = await browser.get(links[0])
    assert "take part as team green" in page.words
    page = await browser.get(links[0])  # Reading it changes nothing.
    assert page.status == 200
    made = await browser.send(page, links[0])
    [secret] = re.findall(r"vidscore_[0-9a-f]{16}_[0-9a-f]{64}", made.text.split("<code>")[1])
    assert "Team green" in (await Browser(site.nobody.base).sign_in(secret)).words
    assert "Team green" in (await browser.send(made, "/sign-in")).words
    late = await Browser(site.nobody.base).get(links[0])
    assert late.status == 409
    assert "was accepted already" in late.words
    assert "accepted" in (await site.organiser.get(INVITATIONS)).words


async def test_a_link_is_accepted_only_with_its_button(site: Browsing) -> None:
    [link] = await _invited(site, "green")
    assert (await Browser(site.nobody.base).post(link, {})).status == 403
    assert (await Browser(site.nobody.base).get(link)).status == 200


async def test_an_expired_or_revoked_link_cannot_be_accepted(site: Browsing) -> None:
    first, second = await _invited(site)
    page = await site.organiser.get(INVITATIONS)
    name = f"invitations/{first.split('_')[2]}"
    await site.organiser.send(page, f"{INVITATIONS}/revoke", name=name)
    assert "was revoked" in (await site.nobody.get(first)).words
    site.hosted.clock.pass_by(days=3)
    page = await site.nobody.get(second)
    assert page.status == 409
    assert "has ended" in page.words


async def test_who_has_a_mistyped_link_is_told_so_and_not_to_sign_in(site: Browsing) -> None:
    [link] = await _invited(site, "green")
    for wrong in (link[:-1] + ("0" if link[-1] != "0" else "1"), link[:-1], "/invitations/x"):
        for browser in (site.nobody, site.red):
            page = await browser.get(wrong)
            assert page.status == 404
            assert "no such invitation; the link may be mistyped" in page.words


async def test_all_invalid_teams_are_named(site: Browsing) -> None:
    form = await site.organiser.get(INVITATIONS)
    page = await site.organiser.send(form, INVITATIONS, teams="Green, teal; teal\nx y")
    assert page.status == 400
    assert page.text.count('id="teams-fault-') == 3
    assert "Green, teal; teal" in page.text
    assert "Nobody is invited yet." in page.words


async def test_every_audit_record_is_in_the_csv() -> None:
    """A page of the service has a thousand records."""
    record = dict.fromkeys(COLUMNS, "") | {"time": datetime(2026, 1, 2, tzinfo=UTC)}
    pages = 101

    async def call(_: str, *, page_token: str, **__: object) -> dict[str, object]:
        left = int(page_token) - 1
        return {"records": [record] * 1000, "next_page_token": str(left) if left else ""}

    first = await call("", page_token=str(pages))
    visit: Any = SimpleNamespace(call=call)
    lines = "".join([text async for text in _lines(visit, {}, first)]).splitlines()
    assert len(lines) == 1 + pages * 1000


async def test_the_audit_record_is_filtered_and_downloaded_as_csv(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await site.organiser.get("/organise/audit?action=CreateBenchmark")
    assert "1 May 2026, 12:00 UTC" in page.words
    assert '<time datetime="2026-05-01T12:00:00+00:00">' in page.text
    assert "benchmarks/dots" in page.words
    assert "CreateToken" not in page.words
    page = await site.organiser.get("/organise/audit?resource=tokens/x")
    assert "No record fits." in page.words
    page = await site.organiser.get("/organise/audit?since=2026-05-01T12:00&until=2026-05-01T12:01")
    assert "CreateBenchmark" in page.words
    page = await site.organiser.get("/organise/audit?since=soon")
    assert page.status == 400
    assert 'id="since-fault-1"' in page.text
    answer = await site.organiser.get("/organise/audit.csv?action=CreateBenchmark")
    lines = answer.text.splitlines()
    assert lines[0] == "number,time,actor,action,resource,detail"
    assert len(lines) == 2
    assert lines[1].split(",")[3:5] == ["CreateBenchmark", "benchmarks/dots"]
