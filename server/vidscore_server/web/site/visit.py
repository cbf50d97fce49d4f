"""A visit: one request of a browser, its account, and the rendering of its page."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Message, Receive

from vidscore_server.addresses import ListenAddress
from vidscore_server.domain.scores import ReportParts
from vidscore_server.web.rendering import environment
from vidscore_server.web.site.kept_pictures import KeptPictures
from vidscore_server.web.site.protection import (
    FORM_COOKIE,
    KEY_FIELD,
    SESSION_COOKIE,
    SiteAddress,
    Tries,
    UnfinishedForms,
    form_text,
    has_key,
    is_foreign,
)
from vidscore_server.web.site.service import Service, ServiceError, Visitor
from vidscore_server.web.site.spool import Spool

MOST_FORM_BYTES = 1 << 20
"""Default maximum size of a form."""

FORM_TIMEOUT_S = 60.0
"""Time for a form of that size, and for each `MOST_FORM_BYTES` of a larger one."""

_ANYWHERE = ("0.0.0.0", "[::]")  # noqa: S104 - looked for, not listened at


class Site(Struct, frozen=True):
    """What all pages share.

    Attributes:
        service: The server's RPCs.
        address: How browsers reach the site.
        grpc_address: Listening address of the gRPC server.
        tries: Limits failed sign-ins.
        forms: Limits the forms in transfer.
        clock: The time.
        spool: Keeps uploaded files until they are submitted.
        truths: Keeps uploaded ground truth until it is confirmed.
        pictures: Caches the data of submissions' pictures.
    """

    service: Service
    address: SiteAddress
    grpc_address: str = ""
    tries: Tries = field(default_factory=Tries)
    forms: UnfinishedForms = field(default_factory=UnfinishedForms)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    spool: Spool = field(default_factory=Spool)
    truths: Spool = field(default_factory=Spool)
    pictures: KeptPictures = field(default_factory=KeptPictures)


class Account(Struct, frozen=True):
    """The account of a visitor, from the token.

    Attributes:
        role: ``organiser``, ``participant`` or ``viewer``; empty for nobody.
        team: Team of a participant.
    """

    role: str = ""
    team: str = ""

    @property
    def is_organiser(self) -> bool:
        """Whether it may see and do everything."""
        return self.role == "organiser"

    @property
    def submits(self) -> bool:
        """Whether the visitor may submit."""
        return self.role in {"organiser", "participant"}


class Visit:
    """One request.

    Args:
        site: What all pages share.
        request: The request.
    """

    def __init__(self, site: Site, request: Request) -> None:
        self.site = site
        self.request = request
        self.visitor = Visitor(request.cookies.get(SESSION_COOKIE, ""), f"http:{self.host}")
        self._account: Account | None = None
        self._forms: list[Request] = []
        self._server: dict[str, Any] = {}

    @property
    def host(self) -> str:
        """Address of the client, or of its proxy."""
        return self.request.client.host if self.request.client else ""

    @property
    def grpc_address(self) -> str:
        """Address of the gRPC server for clients: the site's host, if it listens anywhere."""
        listening, _, port = self.site.grpc_address.rpartition(":")
        if listening not in _ANYWHERE:
            return self.site.grpc_address
        host = urlsplit(self.site.address.origin(self.request)).hostname or ""
        return str(ListenAddress(host, int(port)))

    @property
    def benchmark(self) -> str:
        """Name of the benchmark in the address."""
        return f"benchmarks/{self.request.path_params['benchmark']}"

    @property
    def submission(self) -> str:
        """Resource name of the submission in the path."""
        return f"{self.benchmark}/submissions/{self.request.path_params['submission']}"

    @property
    def is_part(self) -> bool:
        """Whether a script of ours requests a part of the page."""
        return self.request.headers.get("hx-request") == "true"

    async def call(
        self, rpc: str, parts: ReportParts = ReportParts.ALL, /, **request: Any
    ) -> dict[str, Any]:
        """Make a call as the visitor; see `Service.call`.

        Raises:
            ServiceError: If it is refused.
        """
        return await self.site.service.call(rpc, self.visitor, parts, **request)

    def stream(
        self,
        rpc: str,
        requests: AsyncIterator[Mapping[str, Any]],
        parts: ReportParts = ReportParts.ALL,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Make a call with several messages as the visitor."""
        return self.site.service.stream(rpc, self.visitor, requests, parts)

    def ask(
        self, rpc: str, parts: ReportParts = ReportParts.ALL, /, **request: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Call an RPC that answers one request with several messages; see `Service.stream`."""

        async def requests() -> AsyncIterator[Mapping[str, Any]]:
            yield request

        return self.stream(rpc, requests(), parts)

    async def pages(self, rpc: str, field: str, **request: Any) -> AsyncIterator[dict[str, Any]]:
        """Every entry of a list, page by page.

        Args:
            rpc: A call with ``page_token`` and ``next_page_token``.
            field: Field of its response that has the entries.
            request: The request.
        """
        token = ""
        while True:
            page = await self.call(rpc, page_token=token, **request)
            for entry in page[field]:
                yield entry
            if not (token := page["next_page_token"]):
                return

    async def account(self) -> Account:
        """The account of the token with which the visitor has signed in."""
        if self._account is None:
            self._account = Account()
            if self.visitor.session:
                server = await self.server()
                token = server.get("token") or {}
                self._account = Account(token.get("role", ""), token.get("team", ""))
        return self._account

    def forget_account(self) -> None:
        """Render the page without an account, because the session has ended or just begins."""
        self._account = Account()

    async def server(self) -> dict[str, Any]:
        """The server's description for the visitor."""
        if not self._server:
            self._server = (await self.call("ServerService/GetServer"))["server"]
        return self._server

    async def benchmark_and_quotas(self) -> dict[str, Any]:
        """The benchmark of the address, with the visitor's quotas."""
        return await self.call("BenchmarkService/GetBenchmark", name=self.benchmark)

    async def hosted(self) -> dict[str, Any]:
        """The benchmark of the address."""
        found: dict[str, Any] = (await self.benchmark_and_quotas())["benchmark"]
        return found

    async def form(self, maximum_bytes: int = MOST_FORM_BYTES) -> Mapping[str, Any]:
        """The fields of a sent form: texts, and chosen files.

        Args:
            maximum_bytes: Maximum size of a form; not a byte more is read.

        Raises:
            ServiceError: If it comes from another site, carries no key, or is too large.
        """
        self._refuse_foreign()
        fields = await self.unchecked_form(maximum_bytes)
        self.refuse_without_key(fields.get(KEY_FIELD))
        return fields

    async def unchecked_form(self, maximum_bytes: int = MOST_FORM_BYTES) -> Mapping[str, Any]:
        """The fields of a form from any sender.

        Args:
            maximum_bytes: Maximum size of a form; not a byte more is read.

        Raises:
            ServiceError: If it is larger, takes too long, or too many come from its host.
        """
        request = Request(self.request.scope, _bounded(self.request, maximum_bytes))
        self._forms.append(request)
        with self.site.forms.one_of(self.host):
            return await request.form(max_files=8, max_fields=1000)

    @property
    def stated_bytes(self) -> int:
        """Bytes of the body, as stated by the request; 0 if not stated."""
        stated = self.request.headers.get("content-length", "")
        return int(stated) if stated.isdecimal() and len(stated) < 20 else 0

    async def body(self, maximum_bytes: int) -> AsyncGenerator[bytes, None]:
        """The body of a request other than a form, piece by piece.

        Args:
            maximum_bytes: Maximum size; not a byte more is read.

        Raises:
            ServiceError: If it is larger, takes too long, or too many come from its host.
        """
        with self.site.forms.one_of(self.host):
            request = Request(self.request.scope, _bounded(self.request, maximum_bytes))
            async for piece in request.stream():
                yield piece

    async def close(self) -> None:
        """Close the files of forms."""
        for request in self._forms:
            await request.close()

    def refuse_without_key(self, given: object) -> None:
        """Refuse a request that another site may have sent.

        Args:
            given: The key of a form, or of a script of ours.

        Raises:
            ServiceError: If it comes from another site, or the key is wrong.
        """
        self._refuse_foreign()
        if not has_key(given, self.form_key()):
            raise ServiceError(
                "PERMISSION_DENIED",
                "FORM_KEY",
                "The form is older than your session, or its key is missing. Open the page "
                "again and repeat what you did; nothing was changed.",
            )

    def _refuse_foreign(self) -> None:
        if is_foreign(self.request, self.site.address):
            raise ServiceError(
                "PERMISSION_DENIED", "FOREIGN_FORM", "This form was sent by another site."
            )

    def form_key(self, text: str = "") -> str:
        """The key in this visitor's forms."""
        return self.site.service.form_key(text or form_text(self.request))

    async def render(
        self, template: str, status: int = 200, *, key: str = "", **context: Any
    ) -> Response:
        """A page.

        Args:
            template: Its template below ``site/``.
            status: Status of the answer.
            key: Key of its forms; empty for the visitor's own.
            context: What it shows.
        """
        shared = {
            "account": await self.account(),
            "csrf": key or self.form_key(),
            "path": self.request.url.path,
            "here": self.request.url,
            "grpc_address": self.grpc_address,
        }
        page = environment().get_template(f"site/{template}")
        text = await asyncio.to_thread(page.render, shared | context)
        return HTMLResponse(text, status)

    async def render_open(self, template: str, status: int = 200, **context: Any) -> Response:
        """A page with a form for visitors without a session: a cookie holds the text of its key."""
        text = form_text(self.request) or secrets.token_hex(16)
        response = await self.render(template, status, key=self.form_key(text), **context)
        if text not in {self.request.cookies.get(FORM_COOKIE, ""), self.visitor.session}:
            self.set_cookie(response, FORM_COOKIE, text)
        return response

    def set_cookie(self, response: Response, name: str, value: str) -> None:
        """Set a cookie that scripts cannot read and other sites cannot use."""
        secure = self.site.address.is_secure
        response.set_cookie(name, value, path="/", httponly=True, samesite="strict", secure=secure)

    @staticmethod
    def go(path: str) -> Response:
        """Redirect the browser to another page, after a form."""
        return RedirectResponse(path, 303)


def _bounded(request: Request, maximum_bytes: int) -> Receive:
    """The body of a request, bounded in size and time.

    Raises:
        ServiceError: If it states a larger size; while it is read, if it is larger, or takes too
            long.
    """
    error = ServiceError(
        "INVALID_ARGUMENT", "INPUT", f"The form has more than {maximum_bytes:,} bytes."
    )
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > maximum_bytes:
        raise error
    count = 0
    loop = asyncio.get_running_loop()
    begin_s = loop.time()

    async def receive() -> Message:
        nonlocal count
        due_s = begin_s + FORM_TIMEOUT_S * (1 + count // MOST_FORM_BYTES)
        try:
            async with asyncio.timeout_at(due_s):
                message = await request.receive()
        except TimeoutError:
            raise ServiceError(
                "DEADLINE_EXCEEDED", "INPUT", "The form took too long to arrive; send it again."
            ) from None
        count += len(message.get("body", b""))
        if count > maximum_bytes:
            raise error
        return message

    return receive
