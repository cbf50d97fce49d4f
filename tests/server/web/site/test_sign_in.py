"""Signing in and out, and the protection of sessions against other sites."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from tests.server.domain.hosted import create_token
from tests.server.web.site.browsing import Browser, Browsing

from vidscore_protos.v1 import access_service_pb2, token_pb2
from vidscore_server.web.site.app import PAGES
from vidscore_server.web.site.protection import MOST_TRIES, PAUSE_S, Tries


async def test_a_token_signs_in_and_its_role_is_shown(site: Browsing) -> None:
    browser = Browser(site.nobody.base)
    page = await browser.sign_in(site.hosted.red.secret)
    assert page.status == 200
    assert "Team red" in page.words
    assert (await browser.get("/sign-in")).text.count("<form") == 1


async def test_a_visitor_without_a_session_is_led_to_the_form_and_back(site: Browsing) -> None:
    browser = Browser(site.nobody.base)
    form = await browser.get("/benchmarks?from=mail")
    assert form.fields("/sign-in")["next"] == "/benchmarks?from=mail"
    answer = await browser.post(
        "/sign-in", form.fields("/sign-in") | {"token": site.hosted.red.secret}
    )
    assert answer.headers["location"] == "/benchmarks?from=mail"


async def test_a_mistyped_token_keeps_the_return_address(site: Browsing) -> None:
    browser = Browser(site.nobody.base)
    form = await browser.get("/benchmarks?from=mail")
    refused = await browser.post("/sign-in", form.fields("/sign-in") | {"token": "mistyped"})
    assert refused.status == 401
    assert refused.fields("/sign-in")["next"] == "/benchmarks?from=mail"


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example/", "/\\evil", "x"])
async def test_signing_in_never_leads_to_another_site(site: Browsing, elsewhere: str) -> None:
    fields = {"token": site.hosted.red.secret, "next": elsewhere}
    answer = await Browser(site.nobody.base).post("/sign-in", fields)
    assert answer.headers["location"] == "/benchmarks"


async def test_the_cookie_is_inaccessible_to_scripts_and_other_sites(site: Browsing) -> None:
    answer = await Browser(site.nobody.base).post("/sign-in", {"token": site.hosted.red.secret})
    [line] = [line for line in answer.cookies if line.startswith("vidscore-session=")]
    flags = {part.strip().lower() for part in line.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert "secure" not in flags  # The site of the tests has no TLS.
    assert site.hosted.red.secret not in line


@pytest.mark.parametrize("token", ["", "nonsense", "vidscore_0000000000000000_" + "0" * 64])
async def test_an_invalid_token_is_refused_in_words(site: Browsing, token: str) -> None:
    browser = Browser(site.nobody.base)
    page = await browser.sign_in(token)
    assert page.status == 401
    assert "This token is not valid" in page.words
    assert "vidscore-session" not in browser.cookies


async def test_attempts_are_limited(site: Browsing) -> None:
    browser = Browser(site.nobody.base)
    for left in range(MOST_TRIES - 1, -1, -1):
        page = await browser.sign_in("wrong")
        assert page.status == 401
        assert ("one try is" in page.words.lower()) == (left == 1)
    refused = await browser.sign_in(site.hosted.red.secret)
    assert refused.status == 429
    assert "Too many tries" in refused.words


def test_attempts_are_allowed_again_after_the_pause() -> None:
    now = 100.0
    tries = Tries(lambda: now)
    for _ in range(MOST_TRIES):
        tries.failed("host")
    assert tries.pause_s("host") == PAUSE_S
    assert tries.pause_s("other") == 0
    now += PAUSE_S + 1
    assert tries.pause_s("host") == 0


async def test_a_session_ends_with_its_token(site: Browsing) -> None:
    secret = await create_token(site.hosted.organiser, token_pb2.ROLE_PARTICIPANT, "green")
    browser = Browser(site.nobody.base)
    assert "Team green" in (await browser.sign_in(secret)).words
    name = f"tokens/{secret.split('_')[1]}"
    await site.hosted.organiser.access.RevokeToken(
        access_service_pb2.RevokeTokenRequest(name=name), metadata=site.hosted.organiser.metadata
    )
    page = await browser.get("/benchmarks")
    assert "Your session has ended" in page.words
    assert "vidscore-session" not in browser.cookies


async def test_a_page_that_polls_opens_the_form_as_a_whole_page(site: Browsing) -> None:
    """Otherwise it would show the form in place of the part that it requests."""
    page = "/benchmarks/dots/submissions/one"
    part = await site.nobody.get(
        f"{page}/live?state=receiving",
        hx_request="true",
        hx_current_url=f"https://scores.example.org{page}?b=c",
    )
    assert (part.status, part.text) == (401, "You are signed out.")
    assert part.headers["hx-redirect"] == f"/sign-in?next={quote(f'{page}?b=c', safe='')}"


async def test_a_session_with_a_changed_signature_is_invalid(site: Browsing) -> None:
    browser = await site.red.signed_in()
    session = browser.cookies["vidscore-session"]
    browser.cookies["vidscore-session"] = session[:-1] + ("0" if session[-1] != "0" else "1")
    assert "Your session has ended" in (await browser.get("/benchmarks")).words


async def test_a_session_is_not_a_token_over_grpc(site: Browsing) -> None:
    client = site.hosted.client("x")
    session = (await site.red.signed_in()).cookies["vidscore-session"]
    metadata = (("authorization", f"Session {session}"),)
    request = access_service_pb2.ListTokensRequest()
    with pytest.raises(Exception, match="the token is unknown"):
        await client.access.ListTokens(request, metadata=metadata)


async def test_signing_out_forgets_the_session(site: Browsing) -> None:
    page = await site.red.get("/benchmarks")
    await site.red.send(page, "/sign-out")
    assert "vidscore-session" not in site.red.cookies


async def test_a_form_of_another_site_is_refused(site: Browsing) -> None:
    page = await site.red.get("/benchmarks")
    answer = await site.red.post(
        "/sign-out", page.fields("/sign-out"), origin="https://evil.example"
    )
    assert answer.status == 403
    assert "sent by another site" in answer.words
    assert "Team red" in (await site.red.get("/benchmarks")).words


@pytest.mark.parametrize("key", ["", "0" * 64])
async def test_a_form_without_the_right_key_is_refused(site: Browsing, key: str) -> None:
    answer = await site.red.post("/sign-out", {"csrf": key} if key else {}, origin="")
    assert answer.status == 403
    assert "vidscore-session" in site.red.cookies


async def test_without_an_origin_the_key_alone_counts(site: Browsing) -> None:
    page = await site.red.get("/benchmarks")
    answer = await site.red.post("/sign-out", page.fields("/sign-out"), origin="")
    assert answer.status == 303


async def test_the_key_of_another_session_is_refused(site: Browsing) -> None:
    page = await site.blue.get("/benchmarks")
    answer = await site.red.post("/sign-out", page.fields("/sign-out"), origin="")
    assert answer.status == 403


FORMS = sorted(
    {path for module in PAGES for path, _, *methods in module.ROUTES if "POST" in methods}
    - {"/sign-in"}  # which has no session to protect
)


@pytest.mark.parametrize("form", FORMS)
async def test_every_form_needs_the_key_of_its_session_and_the_origin_of_the_site(
    site: Browsing, form: str
) -> None:
    """Of the names in their addresses only those of the benchmark and of the action exist."""
    await site.hosted.organiser.create_benchmark("dots")
    known = form.replace("{benchmark}", "dots").replace("{action}", "cancel")
    path = re.sub(r"\{[^}]*\}", "1", known)
    own, other = [
        (await browser.get("/benchmarks")).fields("/sign-out")["csrf"]
        for browser in (site.organiser, site.red)
    ]
    answers = [
        await site.organiser.post(path, {}),
        await site.organiser.post(path, {"csrf": other}),
        await site.organiser.post(path, {"csrf": own}, origin="https://evil.example"),
    ]
    assert [answer.status for answer in answers] == [403, 403, 403]


async def test_signing_in_without_an_origin_takes_the_key_of_the_form(site: Browsing) -> None:
    browser = Browser(site.nobody.base)
    assert (await browser.post("/sign-in", {"token": "x"}, origin="")).status == 403
    form = await browser.get("/sign-in")
    fields = form.fields("/sign-in") | {"token": site.hosted.red.secret}
    assert (await browser.post("/sign-in", fields, origin="")).status == 303


async def test_every_answer_has_a_content_security_policy(site: Browsing) -> None:
    for path in ("/benchmarks", "/sign-in", "/nowhere", "/static/style.css"):
        policy = (await site.red.get(path)).headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy


async def test_a_missing_page_says_so(site: Browsing) -> None:
    page = await site.red.get("/nowhere")
    assert page.status == 404
    assert "There is no such page" in page.words


async def test_a_foreign_host_header_is_refused(site: Browsing) -> None:
    page = await site.red.ask("GET", "/sign-in", host="evil.example")
    assert page.status == 421


async def test_the_address_of_a_form_is_not_a_page(site: Browsing) -> None:
    """For example, if the page of a refusal is opened again by its address."""
    for browser in (site.organiser, site.nobody):
        page = await browser.get("/organise/retry")
        assert page.status == 405
        assert page.headers["allow"] == "POST"
        assert "There is no page at this address" in page.words
