package vidscore

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

var wireGeometries = map[Geometry]vidscorev1.Geometry{
	Point:         vidscorev1.Geometry_GEOMETRY_POINT,
	Box:           vidscorev1.Geometry_GEOMETRY_BOX,
	Quadrilateral: vidscorev1.Geometry_GEOMETRY_QUADRILATERAL,
}

var geometryOfArity = map[int]Geometry{2: Point, 4: Box, 8: Quadrilateral}

// table numbers values in the order in which they first appear.
type table[Value comparable] struct {
	values []Value
	rows   map[Value]uint32
}

func (names *table[Value]) row(value Value) uint32 {
	row, known := names.rows[value]
	if !known {
		if names.rows == nil {
			names.rows = map[Value]uint32{}
		}
		row = uint32(len(names.values))
		names.rows[value] = row
		names.values = append(names.values, value)
	}
	return row
}

type sequenceKey struct{ domain, sequence string }

// checksum is the CRC-32 of a batch's bytes, by which the server checks that they arrived as they
// were sent; nil if the batch cannot be encoded, an error that sending it reports. A message
// without maps is encoded the same each time, alone and inside another one.
func checksum(batch *vidscorev1.AnnotationBatch) *uint32 {
	data, err := proto.Marshal(batch)
	if err != nil {
		return nil
	}
	return proto.Uint32(crc32.ChecksumIEEE(data))
}

// encodeItems puts frames into the columns of the wire. Columns with only default values are left
// out. The same frames always give the same message.
func encodeItems(items []item, arity int) *vidscorev1.AnnotationBatch {
	message := &vidscorev1.AnnotationBatch{Geometry: wireGeometries[geometryOfArity[arity]]}
	var sequences table[sequenceKey]
	var labels table[string]
	for index := range items {
		frame := &items[index]
		key := sequenceKey{frame.Domain, frame.Sequence}
		message.FrameSequences = append(message.FrameSequences, sequences.row(key))
		message.FrameNumbers = append(message.FrameNumbers, frame.Number)
		message.FrameObjectCounts = append(message.FrameObjectCounts, uint32(frame.objects))
		message.FrameFlags = append(message.FrameFlags, frameFlags(frame))
		message.FrameTimesS = append(message.FrameTimesS, timeOf(frame))
		appendObjects(message, frame, &labels)
	}
	for _, key := range sequences.values {
		message.Sequences = append(message.Sequences, &vidscorev1.SequenceKey{Domain: key.domain, Sequence: key.sequence})
	}
	message.Labels = labels.values
	dropDefaults(message)
	return message
}

func frameFlags(frame *item) uint32 {
	if frame.DontCare {
		return dontCareFrame
	}
	return 0
}

// timeOf is the time of a frame; NaN if it is unknown.
func timeOf(frame *item) float64 {
	if frame.TimeS == nil {
		return math.NaN()
	}
	return *frame.TimeS
}

func appendObjects(message *vidscorev1.AnnotationBatch, frame *item, labels *table[string]) {
	message.Coordinates = append(message.Coordinates, frame.Coordinates...)
	for object := range frame.objects {
		message.LabelIndices = append(message.LabelIndices, labels.row(at(frame.Labels, object, "")))
		message.Confidences = append(message.Confidences, at(frame.Confidences, object, 1))
		message.TrackIds = append(message.TrackIds, at(frame.TrackIDs, object, -1))
		message.ObjectFlags = append(message.ObjectFlags, uint32(at(frame.Flags, object, 0)))
	}
	for _, mask := range frame.Masks {
		message.MaskHeights = append(message.MaskHeights, mask.Height)
		message.MaskWidths = append(message.MaskWidths, mask.Width)
		message.MaskRunCounts = append(message.MaskRunCounts, uint32(len(mask.Runs)))
		message.MaskRuns = append(message.MaskRuns, mask.Runs...)
	}
	if frame.objects == 0 {
		return
	}
	for index, name := range slices.Sorted(maps.Keys(frame.Columns)) {
		if index == len(message.Columns) {
			message.Columns = append(message.Columns, &vidscorev1.NamedColumn{Name: name})
		}
		column := message.Columns[index] // frames of one message have the same columns
		column.Values = append(column.Values, frame.Columns[name]...)
	}
}

func dropDefaults(message *vidscorev1.AnnotationBatch) {
	if len(message.Labels) == 1 && message.Labels[0] == "" {
		message.Labels = nil
	}
	message.FrameFlags = unlessAll(message.FrameFlags, 0)
	if !slices.ContainsFunc(message.FrameTimesS, func(time float64) bool { return !math.IsNaN(time) }) {
		message.FrameTimesS = nil
	}
	message.LabelIndices = unlessAll(message.LabelIndices, 0)
	message.Confidences = unlessAll(message.Confidences, 1)
	message.TrackIds = unlessAll(message.TrackIds, -1)
	message.ObjectFlags = unlessAll(message.ObjectFlags, 0)
}

func unlessAll[Value comparable](column []Value, usual Value) []Value {
	if slices.ContainsFunc(column, func(value Value) bool { return value != usual }) {
		return column
	}
	return nil
}

func at[Value any](column []Value, index int, otherwise Value) Value {
	if column == nil {
		return otherwise
	}
	return column[index]
}

func encodeConfiguration(options *ScoreOptions, live *Live) (*vidscorev1.ScoreConfiguration, error) {
	specification, err := encodeSpecification(options.Evaluators, options.Specification)
	if err != nil {
		return nil, err
	}
	configuration := &vidscorev1.ScoreConfiguration{
		Specification:     specification,
		TruthGeometry:     wireGeometries[options.TruthGeometry],
		DetectionGeometry: wireGeometries[options.DetectionGeometry],
	}
	if live != nil {
		configuration.LiveReporting = &vidscorev1.LiveReporting{
			FrameInterval: live.EveryFrames, SummaryOnly: live.SummaryOnly,
		}
		if live.Every > 0 {
			configuration.LiveReporting.TimeInterval = durationpb.New(live.Every)
		}
	}
	return configuration, nil
}

// encodeSpecification joins a specification and the chosen evaluators; if none are chosen, those of
// the specification judge.
func encodeSpecification(evaluators []Evaluator, specification *vidscorev1.BenchmarkSpec) (*vidscorev1.BenchmarkSpec, error) {
	message := &vidscorev1.BenchmarkSpec{}
	if specification != nil {
		message = proto.CloneOf(specification)
	}
	if len(evaluators) > 0 {
		message.Evaluators = nil
	}
	for index, evaluator := range evaluators {
		encoded, err := encodeEvaluator(fmt.Sprintf("Evaluators[%d]", index), evaluator)
		if err != nil {
			return nil, err
		}
		message.Evaluators = append(message.Evaluators, encoded)
	}
	if len(message.Evaluators) == 0 {
		return nil, inputError("Evaluators", "none", "at least one")
	}
	return message, nil
}

func encodeEvaluator(path string, evaluator Evaluator) (*vidscorev1.EvaluatorSpec, error) {
	message := &vidscorev1.EvaluatorSpec{Name: evaluator.Name}
	err := validText(path+".Name", evaluator.Name)
	for _, parameter := range evaluator.Parameters {
		field := fmt.Sprintf("%s.Parameters[%q]", path, parameter.Name)
		encoded := &vidscorev1.Parameter{Name: parameter.Name}
		err = firstError(err, validText(field, parameter.Name), setParameter(encoded, field, parameter.Value))
		message.Parameters = append(message.Parameters, encoded)
	}
	return message, err
}

func setParameter(parameter *vidscorev1.Parameter, field string, value any) error {
	switch value := value.(type) {
	case bool:
		parameter.Value = &vidscorev1.Parameter_Boolean{Boolean: value}
	case int:
		parameter.Value = &vidscorev1.Parameter_Integer{Integer: int64(value)}
	case int64:
		parameter.Value = &vidscorev1.Parameter_Integer{Integer: value}
	case float64:
		parameter.Value = &vidscorev1.Parameter_Number{Number: value}
	case string:
		parameter.Value = &vidscorev1.Parameter_Text{Text: value}
		return validText(field, value)
	case []float64:
		parameter.Value = &vidscorev1.Parameter_Numbers{Numbers: &vidscorev1.NumberList{Values: value}}
	case []string:
		parameter.Value = &vidscorev1.Parameter_Texts{Texts: &vidscorev1.TextList{Values: value}}
		for _, text := range value {
			if err := validText(field, text); err != nil {
				return err
			}
		}
	default:
		return inputError(field, fmt.Sprintf("%T", value), "bool, int, int64, float64, string, []float64 or []string")
	}
	return nil
}
