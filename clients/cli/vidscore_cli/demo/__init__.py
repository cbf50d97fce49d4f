"""The parts of `vidscore demo`: simulated scenes, teams, their network, and what is shown."""
