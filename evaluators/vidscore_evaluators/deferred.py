"""Values that are computed when they are first read, as fields of frozen dataclasses.

Reading such a field gives the value, as do comparison, `repr`, `dataclasses.replace`, copying and
pickling, each of which reads it. The inputs of the computation are held until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

Value = TypeVar("Value")
Result = TypeVar("Result")


class Deferred(Generic[Value]):
    """A value that a pure function computes at the first read, and that is then kept.

    Threads that read it at the same time may each compute it; they get equal values.
    """

    __slots__ = ("_compute", "_value")

    def __init__(self, compute: Callable[[], Value]) -> None:
        self._compute: Callable[[], Value] | None = compute
        self._value: Value | None = None

    @classmethod
    def of(cls, value: Value) -> Deferred[Value]:
        """A value that is already computed."""
        deferred = cls(lambda: value)
        deferred.get()
        return deferred

    def get(self) -> Value:
        """The value."""
        compute = self._compute
        if compute is not None:
            self._value = compute()
            # In this order, so that another thread always finds the function or the value.
            self._compute = None
        return cast("Value", self._value)

    def then(self, function: Callable[[Value], Result]) -> Deferred[Result]:
        """A function of the value: computed at once if the value is there, else at the first read.

        So no input is held that could already be computed from.
        """
        made = Deferred(lambda: function(self.get()))
        if self._compute is None:
            made.get()
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and deep-copy the value."""
        return Deferred.of, (self.get(),)


class DeferredField(Generic[Value]):
    """A field of a dataclass without slots, that takes a value or a `Deferred` of it.

    It takes the place of the default: ``digest: DeferredField[str] = DeferredField()``.
    """

    def __init__(self, default: Deferred[Value] | None = None) -> None:
        self._default = default

    def __set_name__(self, owner: type[Any], name: str) -> None:
        """Take the name of the field."""
        self._name = name

    def __get__(self, instance: object | None, owner: type[Any]) -> Value:
        """The value of an instance; of the class, the default, which `dataclass` looks up there."""
        if instance is None:
            if self._default is None:
                raise AttributeError(f"{self._name} has no default")
            return cast("Value", self._default)
        found = vars(instance)[self._name]
        return cast("Value", found.get() if isinstance(found, Deferred) else found)

    def __set__(self, instance: object, value: Value | Deferred[Value]) -> None:
        """Store the constructor's value; a frozen dataclass allows no other."""
        vars(instance)[self._name] = value


def given(instance: object, name: str) -> Deferred[Any]:
    """The deferred field of an instance, without computing it."""
    found = vars(instance)[name]
    return found if isinstance(found, Deferred) else Deferred.of(found)
