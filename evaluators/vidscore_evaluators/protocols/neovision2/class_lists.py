"""Which classes a domain scores (section 2.1, Table 2), and which of them an object is of.

Names are compared without regard to case. Inside the evaluator a class is a code: its place in
the sorted list of all folded class names of the domains at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.specification import BenchmarkSpec

ALL_CLASSES = (
    *("Car", "Truck", "Tractor-Trailer", "Bus", "Container"),
    *("Boat", "Plane", "Helicopter", "Person", "Cyclist"),
)
TOWER_CLASSES = ("Car", "Truck", "Bus", "Person", "Cyclist")

UNLISTED = -1
"""Class code of an object whose label is not on its domain's list."""


def classes_of_domain(specification: BenchmarkSpec, domain: str) -> tuple[str, ...]:
    """Classes that are scored in a domain: what the specification says, or else the protocol."""
    given = specification.classes_of(domain)
    if given is not None:
        return given
    return TOWER_CLASSES if domain.casefold().startswith("tower") else ALL_CLASSES


@dataclass(frozen=True, eq=False)
class ClassTable:
    """Classes of D domains, and what L labels mean in them.

    Attributes:
        names: (D) for each domain its classes by code, as its list writes them.
        count: Number of class codes C.
        code_of_label: (L,) code of each label, `UNLISTED` where no domain lists it.
        listed: (D, C + 1) whether a domain lists a class; the last column, which `UNLISTED`
            reaches as an index, is false.
    """

    names: tuple[dict[int, str], ...]
    count: int
    code_of_label: IntArray
    listed: BoolArray

    def codes(self, domains: IntArray, labels: IntArray) -> IntArray:
        """Class codes of objects.

        Args:
            domains: (N,) domain of each object.
            labels: (N,) label of each object.

        Returns:
            (N,) codes, `UNLISTED` where the domain does not list the label.
        """
        codes = self.code_of_label[labels]
        return np.where(self.listed[domains, codes], codes, UNLISTED)


def class_table(
    specification: BenchmarkSpec, domains: Sequence[str], labels: Sequence[str]
) -> ClassTable:
    """Work out the classes of domains.

    Args:
        specification: The benchmark's specification.
        domains: D domains.
        labels: L labels.
    """
    lists = [classes_of_domain(specification, domain) for domain in domains]
    folded = sorted({name.casefold() for names in lists for name in names})
    code_of = {name: code for code, name in enumerate(folded)}
    names = tuple({code_of[name.casefold()]: name for name in reversed(given)} for given in lists)
    listed = np.zeros((len(domains), len(folded) + 1), dtype=np.bool_)
    for domain, by_code in enumerate(names):
        listed[domain, list(by_code)] = True
    codes = [code_of.get(label.casefold(), UNLISTED) for label in labels]
    return ClassTable(names, len(folded), np.array(codes, dtype=np.int64), listed)
