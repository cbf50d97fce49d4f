"""All cases, in the order in which they run. Importing them needs every peer."""

from bench.cases import coco, growth, neovision2, spotgeo, startup, streaming, tracking

CASES = (
    *spotgeo.CASES,
    *neovision2.CASES,
    *coco.CASES,
    *tracking.CASES,
    *startup.CASES,
    *streaming.CASES,
    *growth.CASES,
)
