"""The settings of a campaign: its seed, and its effort."""

from __future__ import annotations

import os

SEED = int(os.environ.get("SEED", "0"))
"""The seed of all randomness of a campaign."""

EFFORT = int(os.environ.get("EFFORT", "1"))
"""A factor on the work of a campaign: 1 in CI, more at night."""

CRASHES = int(os.environ.get("CRASHES", "12"))
"""How often servers are killed; campaigns that wait longer for each take a fraction of it."""
