"""Commands: each module has the options and the work of one command.

Help and completion import a command's module, so its top imports nothing large: numpy, rich, the
SDK and the evaluators are imported by the functions that use them.
"""
