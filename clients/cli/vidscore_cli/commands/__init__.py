"""What users type: each module declares one command and leaves the work to the modules above.

These modules import click alone, because `vidscore --help` loads all of them; what a command
needs besides is imported when it runs.
"""
