"""Plausibility of an input: frequent mistakes in input, counted and reported as warnings.

`summary` counts facts about the input, as tables that add like every tally, and `warnings` turns
them into the warnings of a report; `inputs` does the same for input that was just read. No score
depends on either. Detailed comparisons use a sample of frames, chosen by hashes of their names, so
that order, parts and workers make no difference.
"""
