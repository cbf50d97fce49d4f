"""Pictures of figures: SVG as strings, out of arrays, by pure functions.

A picture stands by itself: it has its title, what it shows in words, its axes with units, and its
own strokes in the colour of the text around it. Its classes are those of the style sheet of
vidscore's pages, which takes precedence where it is there. Nothing has a `style` attribute.
"""
