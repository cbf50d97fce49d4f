"""Run the command line as ``python -m vidscore_cli``."""

from vidscore_cli.start import main

main()
