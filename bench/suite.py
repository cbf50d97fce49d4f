"""All cases, in the order in which they run. Importing them needs every peer."""

from bench.cases import (
    calls,
    coco,
    feeds,
    growth,
    hosted_memory,
    masks,
    neovision2,
    outcomes,
    server_memory,
    servers,
    site,
    spotgeo,
    startup,
    streaming,
    tracking,
    viewer,
)

CASES = (
    *spotgeo.CASES,
    *neovision2.CASES,
    *coco.CASES,
    *masks.CASES,
    *tracking.CASES,
    *outcomes.CASES,
    *viewer.CASES,
    *site.CASES,
    *startup.CASES,
    *calls.CASES,
    *streaming.CASES,
    *servers.CASES,
    *feeds.CASES,
    *server_memory.CASES,
    *hosted_memory.CASES,
    *growth.CASES,
)
