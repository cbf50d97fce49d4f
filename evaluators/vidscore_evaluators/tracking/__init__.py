"""Tracking criteria: `clear` (MOTA, id switches), `identity` (IDF1) and `hota`."""
