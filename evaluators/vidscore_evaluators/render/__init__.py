"""Pictures: truth, detections and outcomes drawn onto images and videos with OpenCV.

``scored`` says what stands in a frame and which frames are the worst, ``picture`` draws one frame,
``media`` reads frames and ``writers`` writes them; ``drawing`` puts the four together, frame by
frame.

The modules import OpenCV, which is an extra: call `vidscore_evaluators.formats.video.load_opencv`
before importing them.
"""
