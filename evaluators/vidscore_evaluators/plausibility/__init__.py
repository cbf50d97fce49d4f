"""Does this look right? What people get wrong about their input, counted and judged.

`impression` counts in the input what doubts rest on, as tables that add like every tally, and
`judging` makes warnings of them in the report. No score depends on either. What is compared in
detail is a sample of frames (`sampling`), chosen by hashes of their names, so that order, parts and
workers make no difference.
"""
