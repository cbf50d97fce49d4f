"""Does this input look right? Frequent mistakes in input, counted and reported as warnings.

`summary` counts in the input what warnings rest on, as tables that add like every tally, and
`warnings` makes the warnings of a report out of them; `inputs` does the same for what was just
read. No score depends on either. What is compared in detail is a sample of frames, chosen by hashes
of their names, so that order, parts and workers make no difference.
"""
