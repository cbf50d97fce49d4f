"""Sanity tests: scenes whose predictions have a true order, by which criteria can be judged.

A test draws *families*: a reference and prediction sets, from the truly best to the truly worst.
A family depends on its seed, its stratum and its realisation alone, so that any process can draw
it anew.

Source: the paper, sections 3.2, 5 and appendix 4. Where the text leaves a choice open, the module
of a test lists this project's readings.
"""
