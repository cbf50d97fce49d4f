"""Loops that numpy has no function for, in C, each behind one Python function.

The C files are compiled when the project is installed (`hatch_build.py`), into a library that calls
nothing, not even the C library: memory comes in as arrays, and what a function finds goes into
arrays. Calls let go of the interpreter, so that threads run side by side. Every function gives the
same bits on every machine: arithmetic is binary64's own, operation by operation.
"""
