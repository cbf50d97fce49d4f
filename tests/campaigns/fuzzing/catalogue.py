"""Every target by its name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.campaigns.fuzzing.messages import message_targets
from tests.campaigns.fuzzing.readers import reader_targets
from tests.campaigns.fuzzing.targets import Target

TARGETS: Mapping[str, Target] = {
    target.name: target for target in (*reader_targets(), *message_targets())
}
