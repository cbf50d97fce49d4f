"""Explanations: what scores are made of, down to the frame and the object.

`material` holds truth, systems and reports; `judgement` the outcomes of every system at one
operating point, by frame; `frame` the objects of one frame; `answer` says the findings in
sentences.
"""
