"""The settings of a campaign: a seed that repeats it, and how long it may take."""

from __future__ import annotations

import os

SEED = int(os.environ.get("SEED", "0"))
"""What all chance of a campaign follows from."""

EFFORT = int(os.environ.get("EFFORT", "1"))
"""How many times what CI has time for: 1 there, more by night."""

CRASHES = int(os.environ.get("CRASHES", "12"))
"""How often servers are killed; campaigns that wait longer for each take a share of it."""
