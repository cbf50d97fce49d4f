"""Run: what all shards of one scoring have in common, so that only these are merged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from vidscore_evaluators.convert import from_dict, to_dict
from vidscore_evaluators.errors import Fault, InputError, UnknownEvaluatorError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.preparation import DataChoice
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.selection import Selection
from vidscore_evaluators.specification import spec_from_dict

SHOWN_CHARACTERS = 60
"""Maximum number of characters of a value that a fault shows; of a longer one it shows a digest."""

_EVALUATORS = "evaluators"
_CUT = "frames of a part of a sequence"
_SCALE = "confidence scale"
_IMAGE_SIZE = "image size"
_OF_THE_WHOLE = (
    _EVALUATORS,
    "software",
    "digest of the truth",
    "digest of the detections",
    "digest of names and sizes of the files of the truth",
    "digest of names and sizes of the files of the detections",
    "warnings of reading",
    _CUT,
    _SCALE,
    _IMAGE_SIZE,
)


Digest = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]


class Judge(Struct, frozen=True):
    """An evaluator in the plain form of JSON, as in tally files.

    Attributes:
        name: Its name.
        version: Its version.
        parameters: Its resolved parameters.
        specification: The specification that it scores by.
        preset: The preset that asked for it; None if none did.
        selection: The part of the data that was chosen.
    """

    name: str
    version: str
    parameters: Mapping[str, Any]
    specification: Mapping[str, Any]
    preset: str | None
    selection: Mapping[str, Any]

    @classmethod
    def of(cls, evaluator: Evaluator[Any]) -> Judge:
        """Describe an evaluator."""
        described = cls(
            evaluator.name,
            evaluator.version,
            parameter_values(evaluator.parameters),
            to_dict(evaluator.specification),
            evaluator.preset,
            to_dict(evaluator.selection),
        )
        return cls(**json.loads(json.dumps(structs.asdict(described))))

    def evaluator(self) -> Evaluator[Any]:
        """Build the evaluator.

        Raises:
            InputError: With every fault: it is unknown here, or has another version, or cannot have
                such parameters.
        """
        try:
            specification = spec_from_dict(self.specification)
            built = create_evaluator(self.name, self.parameters, specification)
            built.selection = from_dict(Selection, self.selection)
        except UnknownEvaluatorError as error:
            raise InputError([Fault(str(error), "")]) from None
        built.preset = self.preset
        if built.version != self.version:
            found = f"{self.name} {self.version}"
            expected = f"{self.name} {built.version}, which is installed here"
            raise InputError([Fault(found, expected)])
        return built


class Run(Struct, frozen=True, dict=True):
    """What all shards of one scoring have in common.

    Attributes:
        judges: The evaluators, in the order of the reports.
        software: Versions on which the last bits of a score may depend.
        truth: Digest of the whole evaluated truth; or of names and sizes of its files, if each
            shard has read only its part.
        detections: Digest of the whole detections, likewise.
        warnings: Warnings from reading the whole data; in parts, only those about names. Their
            texts may name files, which may be in different places on each machine, so only codes
            and counts are compared.
        in_parts: Whether each shard has read only its part.
        cut_frames: Number of frame numbers of a part of a sequence; None if sequences are whole.
        confidence_scale: How confidences were mapped to numbers from 0 to 1, if they were.
        image_size: Width and height of every image in pixels, if they were given.
    """

    judges: tuple[Judge, ...]
    software: Mapping[str, str]
    truth: Digest
    detections: Digest
    warnings: tuple[ReportWarning, ...] = ()
    in_parts: bool = False
    cut_frames: int | None = None
    confidence_scale: str | None = None
    image_size: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        evaluators: Sequence[Evaluator[Any]],
        digests: tuple[str, str],
        warnings: Iterable[ReportWarning],
        choice: DataChoice,
        *,
        in_parts: bool = False,
    ) -> Run:
        """Describe a scoring.

        Args:
            evaluators: The evaluators.
            digests: Those of truth and detections.
            warnings: Warnings from reading.
            choice: How both sides were read.
            in_parts: Whether each shard has read only its part.
        """
        return cls(
            tuple(map(Judge.of, evaluators)),
            software_versions(),
            *digests,
            tuple(warnings),
            in_parts,
            choice.cut_frames,
            choice.confidence_scale,
            choice.image_size,
        )

    def differences(self, other: Run) -> Iterator[tuple[str, str, str]]:
        """Differences from another run: field, value there, value here."""
        if self.compared == other.compared:
            return
        mine, theirs = dict(self.compared), dict(other.compared)
        # If evaluators differ, everything about one of them differs, too.
        listed = mine[_EVALUATORS] == theirs[_EVALUATORS]
        for name in dict.fromkeys([*mine, *theirs]) if listed else _OF_THE_WHOLE:
            here, there = (values.get(name, "none") for values in (mine, theirs))
            if here != there:
                yield name, there, here

    @cached_property
    def compared(self) -> tuple[tuple[str, str], ...]:
        """Name and shown value of everything that is compared."""
        warned = [f"{entry.count} x {entry.code}" for entry in self.warnings]
        software = [f"{name} {version}" for name, version in self.software.items()]
        digest = "digest of names and sizes of the files" if self.in_parts else "digest"
        values = {
            "software": _shown(", ".join(software)),
            f"{digest} of the truth": self.truth,
            f"{digest} of the detections": self.detections,
            "warnings of reading": _shown(", ".join(warned) or "none"),
            _CUT: str(self.cut_frames or "none"),
            _SCALE: self.confidence_scale or "none",
            _IMAGE_SIZE: "none" if self.image_size is None else "{}x{}".format(*self.image_size),
            _EVALUATORS: _shown(", ".join(judge.name for judge in self.judges)),
        }
        for place, judge in enumerate(self.judges):
            whose = f"of {judge.name}" if len(self.judges) == 1 else f"of evaluator {place + 1}"
            described = {f"parameter {name}": value for name, value in judge.parameters.items()}
            for name in ("version", "specification", "preset", "selection"):
                described[name] = getattr(judge, name)
            for name, value in described.items():
                text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
                values[f"{name} {whose}"] = _shown(text)
        return tuple(values.items())


def _shown(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return f"{text[:SHOWN_CHARACTERS]}... (digest {digest})"
