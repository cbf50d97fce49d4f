"""The former name of `vidscore_protos.v1`, kept for one release.

It has the same module objects, so that messages of both names share their classes. There is no
`vidscore/__init__.py` beside it: that file belongs to the library, which may not be installed.
"""

import importlib
import pkgutil
import sys
import warnings

from vidscore_protos import v1

warnings.warn(
    "vidscore.v1 is now vidscore_protos.v1; the old name goes with the next release",
    DeprecationWarning,
    stacklevel=2,
)

for _found in pkgutil.iter_modules(v1.__path__):
    sys.modules[f"{__name__}.{_found.name}"] = importlib.import_module(
        f"{v1.__name__}.{_found.name}"
    )
sys.modules[__name__] = v1
