"""What a browser does to upload a file, with and without a script."""

from __future__ import annotations

import asyncio
import json

from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted
from tests.server.web.site.browsing import Browser, Browsing, Page
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import submission_service_pb2 as pb

DOTS = b"sequence,frame,x,y\n1,1,10,20\n1,1,300,200\n1,2,,\n1,3,50.5,60.5\n1,4,,\n1,5,,\n"
"""The truth of the dots, all of it found."""

WRONG = b"sequence,frame,x,y\n1,1,10,twenty\n1,2,5,5\n1,3,,7\n"


async def dots(site: Browsing, **policy: object) -> None:
    await site.hosted.organiser.create_benchmark(**policy)  # type: ignore[arg-type]
    await site.hosted.organiser.upload(TRUTH)


async def send_file(browser: Browser, data: bytes, name: str = "dots.csv", /, **typed: str) -> Page:
    """Send a file as a browser without a script does, and open the page it leads to."""
    form = await browser.get(f"/{BENCHMARK}/submit")
    fields = form.fields(f"/{BENCHMARK}/submit") | typed
    fields.pop("file", None)
    answer = await send_parts(browser, fields, name, data)
    if answer.status == 303:
        return await settled(browser, answer.headers["location"])
    return answer


async def send_parts(browser: Browser, fields: dict[str, str], name: str, data: bytes) -> Page:
    mark = "xxxxxxxxxxxxxxxxxxxxxxx"
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{text}\r\n'.encode()
        for key, text in fields.items()
    ]
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts.append(f"--{mark}\r\n{head}Content-Type: text/csv\r\n\r\n".encode() + data + b"\r\n")
    parts.append(f"--{mark}--\r\n".encode())
    kind = f"multipart/form-data; boundary={mark}"
    path = f"/{BENCHMARK}/submit"
    return await browser.ask("POST", path, b"".join(parts), content_type=kind, origin=browser.base)


async def settled(browser: Browser, path: str) -> Page:
    """The page of a file once it is checked."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            page = await browser.get(path)
            if "is being read" not in page.words:
                return page


async def begin(browser: Browser, data: bytes, **fields: str) -> dict[str, object]:
    """Start to send a file as the script does."""
    form = await browser.get(f"/{BENCHMARK}/submit")
    sent = {
        "csrf": form.fields(f"/{BENCHMARK}/submit")["csrf"],
        "file_name": "dots.csv",
        "size": str(len(data)),
        "modified": "1",
    }
    answer = await browser.post(f"/{BENCHMARK}/uploads", sent | fields)
    found: dict[str, object] = json.loads(answer.body)
    found["status"], found["csrf"] = answer.status, sent["csrf"]
    return found


async def put(browser: Browser, begun: dict[str, object], offset: int, data: bytes) -> Page:
    path = f"{begun['path']}?offset={offset}"
    key = str(begun["csrf"])
    return await browser.ask("PUT", path, data, origin=browser.base, x_form_key=key)


async def only_submission(hosted: Hosted) -> pb.Submission:
    request = pb.ListSubmissionsRequest(benchmark=BENCHMARK)
    client = hosted.organiser
    answer = await client.submissions.ListSubmissions(request, metadata=client.metadata)
    [found] = answer.submissions
    return found
