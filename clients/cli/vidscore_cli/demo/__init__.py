"""The parts of `vidscore demo`: simulated scenes, teams, their network, and the output."""
