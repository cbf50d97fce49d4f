package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"google.golang.org/protobuf/encoding/protojson"

	vidscore "github.com/vidscore/vidscore/clients/go"
	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// golden is a file of frames.
type golden struct {
	Configuration struct {
		Evaluators []struct {
			Name       string
			Parameters json.RawMessage
		}
		Specification     json.RawMessage
		TruthGeometry     string `json:"truth_geometry"`
		DetectionGeometry string `json:"detection_geometry"`
	}
	Truth      []goldenFrame
	Detections []goldenFrame
}

type goldenFrame struct {
	Domain   string
	Sequence string
	Frame    int64
	DontCare bool     `json:"dont_care"`
	TimeS    *float64 `json:"time_s"`
	Objects  []struct {
		Coordinates []float64
		Label       *string
		Confidence  *float64
		TrackID     *int64 `json:"track_id"`
		Flags       vidscore.ObjectFlag
		Mask        *goldenMask
	}
}

// goldenMask has runs, or their text.
type goldenMask struct {
	Size [2]uint32
	Runs []uint32
	Text string
}

func readGolden(path string) (*golden, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // integers and other numbers differ in their text
	found := &golden{}
	return found, decoder.Decode(found)
}

func (found *golden) options() (vidscore.ScoreOptions, error) {
	options := vidscore.ScoreOptions{
		TruthGeometry:     geometries[found.Configuration.TruthGeometry],
		DetectionGeometry: geometries[found.Configuration.DetectionGeometry],
	}
	if text := found.Configuration.Specification; len(text) > 0 {
		options.Specification = &vidscorev1.BenchmarkSpec{}
		if err := protojson.Unmarshal(text, options.Specification); err != nil {
			return options, err
		}
	}
	for _, evaluator := range found.Configuration.Evaluators {
		parameters, err := parametersOf(evaluator.Parameters)
		if err != nil {
			return options, err
		}
		options.Evaluators = append(options.Evaluators, vidscore.Evaluator{Name: evaluator.Name, Parameters: parameters})
	}
	return options, nil
}

var geometries = map[string]vidscore.Geometry{
	"point": vidscore.Point, "box": vidscore.Box, "quadrilateral": vidscore.Quadrilateral,
}

// parametersOf is a JSON object as parameters, in the order of the text.
func parametersOf(text json.RawMessage) (vidscore.Parameters, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if _, err := decoder.Token(); err != nil { // the brace
		return nil, ignoreEnd(err)
	}
	var parameters vidscore.Parameters
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		parameter, err := parameterOf(value)
		if err != nil {
			return nil, err
		}
		parameters = append(parameters, vidscore.Parameter{Name: name.(string), Value: parameter})
	}
	return parameters, nil
}

// ignoreEnd lets an object be absent.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// parameterOf is a JSON value as a parameter.
func parameterOf(value any) (any, error) {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole, nil
		}
		return value.Float64()
	case []any:
		return listOf(value)
	}
	return value, nil
}

func listOf(values []any) (any, error) {
	numbers, texts := []float64{}, []string{}
	for _, value := range values {
		switch value := value.(type) {
		case json.Number:
			number, err := value.Float64()
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, number)
		case string:
			texts = append(texts, value)
		}
	}
	if len(texts) > 0 {
		return texts, nil
	}
	return numbers, nil
}

func framesOf(found []goldenFrame) ([]vidscore.Frame, error) {
	frames := make([]vidscore.Frame, len(found))
	for index := range found {
		frame, err := frameOf(&found[index])
		if err != nil {
			return nil, err
		}
		frames[index] = frame
	}
	return frames, nil
}

func frameOf(found *goldenFrame) (vidscore.Frame, error) {
	frame := vidscore.Frame{
		Domain: found.Domain, Sequence: found.Sequence, Number: found.Frame, DontCare: found.DontCare,
		TimeS: found.TimeS,
	}
	for _, object := range found.Objects {
		frame.Coordinates = append(frame.Coordinates, object.Coordinates...)
		frame.Labels = append(frame.Labels, orElse(object.Label, ""))
		frame.Confidences = append(frame.Confidences, orElse(object.Confidence, 1))
		frame.TrackIDs = append(frame.TrackIDs, orElse(object.TrackID, -1))
		frame.Flags = append(frame.Flags, object.Flags)
		if object.Mask == nil {
			continue
		}
		mask, err := maskOf(object.Mask)
		if err != nil {
			return frame, err
		}
		frame.Masks = append(frame.Masks, mask)
	}
	return frame, nil
}

func maskOf(found *goldenMask) (vidscore.Mask, error) {
	height, width := found.Size[0], found.Size[1]
	if found.Runs == nil {
		return vidscore.MaskOfText(height, width, found.Text)
	}
	return vidscore.Mask{Height: height, Width: width, Runs: found.Runs}, nil
}

func orElse[Value any](found *Value, otherwise Value) Value {
	if found == nil {
		return otherwise
	}
	return *found
}
