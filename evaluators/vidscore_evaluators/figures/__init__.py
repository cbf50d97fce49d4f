"""Charts and pictures as SVG strings, made from arrays by pure functions.

A picture is complete on its own: it has its title, a description in words, its axes with units, and
its own strokes in the colour of the surrounding text. Its classes are those of the style sheet of
vidscore's pages, which takes precedence if it is present. Nothing has a `style` attribute.
"""
