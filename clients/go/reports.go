package vidscore

import (
	"strconv"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

type valueKind int

const (
	undefined valueKind = iota
	count
	number
)

// Value is a score: a count, a number, or undefined, which is the zero Value. Values can be
// compared with ==.
type Value struct {
	kind   valueKind
	count  int64
	number float64
}

// CountValue is a count as a value.
func CountValue(things int64) Value { return Value{kind: count, count: things} }

// NumberValue is a number as a value.
func NumberValue(figure float64) Value { return Value{kind: number, number: figure} }

// Defined reports whether there is a value.
func (value Value) Defined() bool { return value.kind != undefined }

// Count returns the count; false if the value is not a count.
func (value Value) Count() (int64, bool) { return value.count, value.kind == count }

// Float64 returns the count or number; false if the value is undefined.
func (value Value) Float64() (float64, bool) {
	if value.kind == count {
		return float64(value.count), true
	}
	return value.number, value.Defined()
}

// String returns the shortest text that reads back to the same value, or "undefined".
func (value Value) String() string {
	switch value.kind {
	case count:
		return strconv.FormatInt(value.count, 10)
	case number:
		return strconv.FormatFloat(value.number, 'g', -1, 64)
	}
	return "undefined"
}

// Row is one score with its dimensions; a nil dimension stands for all.
type Row struct {
	Domain   *string
	Label    *string
	Sequence *string
	Measure  string
	Value    Value
}

// Of chooses the dimensions of a score; an empty dimension stands for all.
type Of struct {
	Domain   string
	Label    string
	Sequence string
}

// Column is one coordinate of every point of a curve.
type Column struct {
	Name   string
	Values []Value
}

// Curve is points in order, as columns of equal length.
type Curve struct {
	Name string
	// Domain is nil for all.
	Domain *string
	// Label is nil for all.
	Label   *string
	Columns []Column
}

// Warning is a doubt for the reader of the scores: a stable code, a sentence, and how often it
// occurs.
type Warning struct {
	Code    string
	Message string
	Count   int64
}

// Report is the scores of one evaluator.
type Report struct {
	// Evaluator is the name of the evaluator.
	Evaluator string
	// Version of the evaluator.
	Version string
	// Preset is the name of the preset that the evaluator belongs to; nil if none.
	Preset *string
	// Parameters is all parameters with the values that were used.
	Parameters Parameters
	// TruthDigest is a fingerprint of the truth, 32 hexadecimal digits.
	TruthDigest string
	// DetectionsDigest is a fingerprint of the detections.
	DetectionsDigest string
	// Software is the versions of the server's software on which the last bits may depend.
	Software map[string]string
	// Specification under which it was scored.
	Specification *vidscorev1.BenchmarkSpec
	// Scores is all scores.
	Scores []Row
	// Curves is all curves.
	Curves []Curve
	// Warnings is all warnings.
	Warnings []Warning
}

// Value returns one score; false if the report has no such row.
func (report *Report) Value(measure string, of Of) (Value, bool) {
	for _, row := range report.Scores {
		if row.Measure == measure && deref(row.Domain) == of.Domain &&
			deref(row.Label) == of.Label && deref(row.Sequence) == of.Sequence {
			return row.Value, true
		}
	}
	return Value{}, false
}

// Coverage is how far both sides have come.
type Coverage struct {
	// PairedFrames is the number of frames that both sides have sent.
	PairedFrames int64
	// FramesWaitingForDetections is the number of truth frames without received detections.
	FramesWaitingForDetections int64
	// FramesWaitingForTruth is the number of detection frames without received truth.
	FramesWaitingForTruth int64
}

// LiveReport is scores over exactly the frames that both sides have sent.
type LiveReport struct {
	// Reports has a report for each evaluator, in the requested order.
	Reports  []*Report
	Coverage Coverage
}

func decodeReports(messages []*vidscorev1.Report) []*Report {
	reports := make([]*Report, len(messages))
	for index, message := range messages {
		reports[index] = decodeReport(message)
	}
	return reports
}

func decodeReport(message *vidscorev1.Report) *Report {
	report := &Report{
		Evaluator:        message.GetEvaluator(),
		Version:          message.GetVersion(),
		Parameters:       decodeParameters(message.GetParameters()),
		TruthDigest:      message.GetTruthDigest(),
		DetectionsDigest: message.GetDetectionsDigest(),
		Software:         message.GetSoftware(),
		Specification:    message.GetSpecification(),
	}
	if message != nil { // as of a submission that is not scored yet
		report.Preset = message.Preset
	}
	for _, score := range message.GetScores() {
		report.Scores = append(report.Scores, Row{
			score.Domain, score.Label, score.Sequence, score.GetMeasure(), decodeValue(score.GetValue()),
		})
	}
	for _, curve := range message.GetCurves() {
		report.Curves = append(report.Curves, decodeCurve(curve))
	}
	for _, warning := range message.GetWarnings() {
		report.Warnings = append(report.Warnings, Warning{warning.GetCode(), warning.GetMessage(), warning.GetCount()})
	}
	return report
}

func decodeCurve(message *vidscorev1.Curve) Curve {
	curve := Curve{Name: message.GetName(), Domain: message.Domain, Label: message.Label}
	for _, column := range message.GetColumns() {
		values := make([]Value, len(column.GetValues()))
		for index, value := range column.GetValues() {
			values[index] = decodeValue(value)
		}
		curve.Columns = append(curve.Columns, Column{column.GetName(), values})
	}
	return curve
}

func decodeValue(message *vidscorev1.Value) Value {
	switch kind := message.GetKind().(type) {
	case *vidscorev1.Value_Count:
		return CountValue(kind.Count)
	case *vidscorev1.Value_Number:
		return NumberValue(kind.Number)
	}
	return Value{}
}

func decodeParameters(messages []*vidscorev1.Parameter) Parameters {
	parameters := make(Parameters, len(messages))
	for index, message := range messages {
		parameters[index] = Parameter{message.GetName(), decodeParameter(message)}
	}
	return parameters
}

func decodeParameter(message *vidscorev1.Parameter) any {
	switch value := message.GetValue().(type) {
	case *vidscorev1.Parameter_Boolean:
		return value.Boolean
	case *vidscorev1.Parameter_Integer:
		return value.Integer
	case *vidscorev1.Parameter_Number:
		return value.Number
	case *vidscorev1.Parameter_Text:
		return value.Text
	case *vidscorev1.Parameter_Numbers:
		return append([]float64{}, value.Numbers.GetValues()...) // not nil if empty
	case *vidscorev1.Parameter_Texts:
		return append([]string{}, value.Texts.GetValues()...)
	}
	return nil
}

func decodeLive(message *vidscorev1.LiveReport) *LiveReport {
	coverage := message.GetCoverage()
	return &LiveReport{
		Reports: decodeReports(message.GetReports()),
		Coverage: Coverage{
			PairedFrames:               coverage.GetPairedFrames(),
			FramesWaitingForDetections: coverage.GetFramesWaitingForDetections(),
			FramesWaitingForTruth:      coverage.GetFramesWaitingForTruth(),
		},
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
