package vidscore

import (
	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// Parameter is a parameter of an evaluator with its value: a bool, int, int64, float64, string,
// []float64 or []string. Integers in reports are int64.
type Parameter struct {
	Name  string
	Value any
}

// Parameters is parameters in order, each name once.
type Parameters []Parameter

// Value returns the value of a parameter; nil if there is none of that name.
func (parameters Parameters) Value(name string) any {
	for _, parameter := range parameters {
		if parameter.Name == name {
			return parameter.Value
		}
	}
	return nil
}

// Evaluator chooses an evaluator, with the parameters that differ from its defaults.
type Evaluator struct {
	Name       string
	Parameters Parameters
}

// Direction says which values of a measure are better.
type Direction string

const (
	// Higher is better.
	Higher Direction = "higher"
	// Lower is better.
	Lower Direction = "lower"
	// Neither: the measure alone says nothing about quality.
	Neither Direction = "none"
)

// Measure is one score that an evaluator reports.
type Measure struct {
	Name string
	// Description is its meaning, in one sentence.
	Description string
	// Unit, such as count, ratio, px or px^2.
	Unit string
	// Minimum is the lower bound; nil if there is none.
	Minimum *float64
	// Maximum is the upper bound; nil if there is none.
	Maximum   *float64
	Direction Direction
	// Averaging is how values over many frames are combined: pooled, mean or median.
	Averaging string
}

// EvaluatorDescription describes the rules of one benchmark protocol or criterion, as a server has
// them.
type EvaluatorDescription struct {
	// Name by which it is chosen.
	Name string
	// Version increases whenever a score may change.
	Version string
	// Title is one line for lists.
	Title string
	// Task of the judged systems: detection or tracking.
	Task string
	// ParametersSchema is the JSON Schema of its parameters.
	ParametersSchema map[string]any
	// Measures is all measures that a report may have.
	Measures []Measure
	// Ranking is the measures that order systems, first one first.
	Ranking []string
	// TruthGeometries is the shapes that objects of the truth may have, among those that can be
	// sent.
	TruthGeometries []Geometry
	// DetectionGeometries is the shapes that detections may have, among those that can be sent.
	DetectionGeometries []Geometry
	// UsesConfidences is whether it uses confidences.
	UsesConfidences bool
	// NeedsTracks is whether objects must have a track id.
	NeedsTracks bool
}

var directions = map[vidscorev1.Direction]Direction{
	vidscorev1.Direction_DIRECTION_HIGHER: Higher,
	vidscorev1.Direction_DIRECTION_LOWER:  Lower,
}

func decodeEvaluator(message *vidscorev1.Evaluator) *EvaluatorDescription {
	description := &EvaluatorDescription{
		Name:                lastPart(message.GetName()),
		Version:             message.GetVersion(),
		Title:               message.GetTitle(),
		Task:                message.GetTask(),
		ParametersSchema:    message.GetParametersSchema().AsMap(),
		Ranking:             message.GetRanking(),
		TruthGeometries:     decodeGeometries(message.GetTruthGeometries()),
		DetectionGeometries: decodeGeometries(message.GetDetectionGeometries()),
		UsesConfidences:     message.GetUsesConfidences(),
		NeedsTracks:         message.GetNeedsTracks(),
	}
	for _, measure := range message.GetMeasures() {
		description.Measures = append(description.Measures, decodeMeasure(measure))
	}
	return description
}

func decodeMeasure(message *vidscorev1.Measure) Measure {
	direction, known := directions[message.GetDirection()]
	if !known {
		direction = Neither
	}
	return Measure{
		Name:        message.GetName(),
		Description: message.GetDescription(),
		Unit:        message.GetUnit(),
		Minimum:     message.Minimum,
		Maximum:     message.Maximum,
		Direction:   direction,
		Averaging:   message.GetAveraging(),
	}
}

// decodeGeometries leaves out shapes that this client does not know and cannot send.
func decodeGeometries(messages []vidscorev1.Geometry) []Geometry {
	var geometries []Geometry
	for _, message := range messages {
		if geometry, known := decodeGeometry(message); known {
			geometries = append(geometries, geometry)
		}
	}
	return geometries
}

func decodeGeometry(message vidscorev1.Geometry) (Geometry, bool) {
	for geometry, known := range wireGeometries {
		if known == message {
			return geometry, true
		}
	}
	return UnknownGeometry, false
}
