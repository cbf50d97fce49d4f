package vidscore

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Geometry is the shape of objects.
type Geometry int

// The shapes of objects.
const (
	// Box is an upright box by two opposite corners: x1, y1, x2, y2.
	Box Geometry = iota
	// Point is a point: x, y.
	Point
	// Quadrilateral is four corners in order: x1, y1, ..., x4, y4.
	Quadrilateral
	// UnknownGeometry is the geometry of a benchmark whose truth has not been uploaded.
	UnknownGeometry Geometry = -1
)

// Arity is the number of coordinates of an object.
func (geometry Geometry) Arity() int {
	switch geometry {
	case Point:
		return 2
	case Box:
		return 4
	case Quadrilateral:
		return 8
	}
	return 0
}

// String returns the name: point, box or quadrilateral.
func (geometry Geometry) String() string {
	switch geometry {
	case Point:
		return "point"
	case Box:
		return "box"
	case Quadrilateral:
		return "quadrilateral"
	}
	return fmt.Sprintf("Geometry(%d)", int(geometry))
}

// Side is the side of frames: truth or detections.
type Side int

const (
	// Truth is the ground truth.
	Truth Side = iota
	// Detections is what a system detected.
	Detections
	sides
)

// ObjectFlag is a set of bits with properties of an object.
type ObjectFlag uint32

const (
	// Ignore is a don't-care object: not ground truth, and a detection of it is no false positive.
	Ignore ObjectFlag = 1
	// Crowd is a group of objects under one outline.
	Crowd ObjectFlag = 2
	// Region is not an object but an area in which nothing is scored.
	Region ObjectFlag = 4
	// Distractor is an object of a class that systems may confuse with the scored one.
	Distractor ObjectFlag = 8
)

// dontCareFrame is the bit of a frame that is left out of all counts and averages.
const dontCareFrame = 1

// Frame is one whole frame of one side with N objects. A nil column has its default for every
// object.
type Frame struct {
	// Domain of the video; empty if there is only one.
	Domain string
	// Sequence is the name of the video.
	Sequence string
	// Number of the frame, 0 or more; each is sent once per side, in any order.
	Number int64
	// DontCare leaves the frame out of all counts; only for truth.
	DontCare bool
	// TimeS is the capture time of the frame, in seconds on any one clock; nil if unknown.
	TimeS *float64
	// Coordinates is N times 2, 4 or 8 pixels, one object after the other; empty for no objects.
	Coordinates []float64
	// Labels is N labels; nil if there are none.
	Labels []string
	// Confidences is N finite numbers, the greater the surer; nil for all 1.
	Confidences []float64
	// TrackIDs is N track ids, -1 for none; nil for all -1.
	TrackIDs []int64
	// Flags is N sets of bits; nil for all 0.
	Flags []ObjectFlag
	// Masks is N masks, of boxes; nil if there are none.
	Masks []Mask
	// Columns is further columns of N numbers by name, such as "area".
	Columns map[string][]float64
}

// item is a checked frame of a stream, which owns its columns.
type item struct {
	Frame
	objects int
	size    int
}

const (
	// frameBytes is the maximum that a frame adds to a message, without its objects: number 8, time
	// 8, and 8 for row of its sequence, count of objects and flags.
	frameBytes = 24
	// objectBytes is the maximum that an object adds besides its coordinates and further columns:
	// confidence 8, track id 10, label 5, flags 1.
	objectBytes = 24
	// maskBytes is the maximum that a mask adds without its runs: three numbers; runBytes the
	// maximum of a run.
	maskBytes = 15
	runBytes  = 5
)

// newItem checks shapes and lengths, and copies, so that the caller may reuse its slices.
func newItem(frame Frame, arity int) (item, error) {
	if len(frame.Coordinates)%arity != 0 {
		found := counted(len(frame.Coordinates), "number")
		return item{}, inputError("Coordinates", found, fmt.Sprintf("a multiple of %d", arity))
	}
	objects := len(frame.Coordinates) / arity
	if err := frame.check(objects); err != nil {
		return item{}, err
	}
	size := frameBytes + (objectBytes+8*(arity+len(frame.Columns)))*objects
	for _, mask := range frame.Masks {
		size += maskBytes + runBytes*len(mask.Runs)
	}
	return item{frame.clone(), objects, size}, nil
}

func newItems(frames []Frame, arity int) ([]item, error) {
	items := make([]item, len(frames))
	for index, frame := range frames {
		checked, err := newItem(frame, arity)
		if err != nil {
			return nil, err
		}
		items[index] = checked
	}
	return items, nil
}

func (frame *Frame) check(objects int) error {
	err := firstError(
		validText("Domain", frame.Domain),
		validText("Sequence", frame.Sequence),
		columnLength("Labels", frame.Labels, objects),
		columnLength("Confidences", frame.Confidences, objects),
		columnLength("TrackIDs", frame.TrackIDs, objects),
		columnLength("Flags", frame.Flags, objects),
		columnLength("Masks", frame.Masks, objects),
	)
	for _, label := range frame.Labels {
		err = firstError(err, validText("Labels", label))
	}
	for name, column := range frame.Columns {
		if column == nil {
			column = []float64{}
		}
		err = firstError(err, validText("Columns", name), columnLength("Columns["+name+"]", column, objects))
	}
	return err
}

func (frame *Frame) clone() Frame {
	copied := *frame
	if frame.TimeS != nil {
		copied.TimeS = new(float64)
		*copied.TimeS = *frame.TimeS
	}
	copied.Coordinates = slices.Clone(frame.Coordinates)
	copied.Labels = slices.Clone(frame.Labels)
	copied.Confidences = slices.Clone(frame.Confidences)
	copied.TrackIDs = slices.Clone(frame.TrackIDs)
	copied.Flags = slices.Clone(frame.Flags)
	copied.Masks = slices.Clone(frame.Masks)
	for index, mask := range copied.Masks {
		copied.Masks[index].Runs = slices.Clone(mask.Runs)
	}
	copied.Columns = maps.Clone(frame.Columns)
	for name, column := range copied.Columns {
		copied.Columns[name] = slices.Clone(column)
	}
	return copied
}

// joins reports whether two frames can be in one message, because they have the same columns.
func (one *item) joins(other *item) bool {
	if one.objects == 0 || other.objects == 0 {
		return true
	}
	same := len(one.Columns) == len(other.Columns) && (one.Masks == nil) == (other.Masks == nil)
	for name := range one.Columns {
		_, known := other.Columns[name]
		same = same && known
	}
	return same
}

func sizeOf(items []item) int {
	size := 0
	for index := range items {
		size += items[index].size
	}
	return size
}

func columnLength[Value any](name string, column []Value, objects int) error {
	if column == nil || len(column) == objects {
		return nil
	}
	return inputError(name, counted(len(column), "value"), fmt.Sprintf("%d, one for each object", objects))
}

func validText(name, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return inputError(name, fmt.Sprintf("%.80q", text), "UTF-8 text")
}
