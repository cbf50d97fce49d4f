"""Pictures: draw truth, detections and outcomes onto images and videos with OpenCV.

``scored`` has the contents of each frame and finds the worst frames, ``picture`` draws a frame,
``media`` reads frames and ``writers`` writes them; ``drawing`` uses all four, frame by frame.

The modules import OpenCV, which is an extra: call `vidscore_evaluators.formats.video.load_opencv`
before importing them.
"""
