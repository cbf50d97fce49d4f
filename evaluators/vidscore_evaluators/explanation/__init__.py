"""Explanations: the parts of scores, down to the frame and the object.

`material` holds truth, systems and reports; `judgement` the outcomes of every system at one
operating point, by frame; `frame` the objects of one frame; `answer` states the findings in
sentences.
"""
