package main

import (
	vidscore "github.com/vidscore/vidscore/clients/go"
)

// document is a JSON object.
type document = map[string]any

func errorJSON(failure *vidscore.Error) document {
	violations := []document{}
	for _, violation := range failure.Violations {
		violations = append(violations, document{"field": violation.Field, "description": violation.Description})
	}
	metadata := failure.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	return document{
		"kind": string(failure.Kind), "code": failure.Code, "reason": failure.Reason,
		"message": failure.Message, "retryable": failure.Retryable(),
		"violations": violations, "violation_count": failure.ViolationCount, "metadata": metadata,
	}
}

func reportsJSON(reports []*vidscore.Report) []document {
	documents := make([]document, len(reports))
	for index, report := range reports {
		documents[index] = reportJSON(report)
	}
	return documents
}

func reportJSON(report *vidscore.Report) document {
	parameters, scores, curves, warnings := document{}, []document{}, []document{}, []document{}
	for _, parameter := range report.Parameters {
		parameters[parameter.Name] = parameter.Value
	}
	for _, row := range report.Scores {
		scores = append(scores, document{
			"domain": row.Domain, "label": row.Label, "sequence": row.Sequence,
			"measure": row.Measure, "value": valueJSON(row.Value), "kind": kindOf(row.Value),
		})
	}
	for _, curve := range report.Curves {
		columns := []document{}
		for _, column := range curve.Columns {
			values := make([]any, len(column.Values))
			for index, value := range column.Values {
				values[index] = valueJSON(value)
			}
			columns = append(columns, document{"name": column.Name, "values": values})
		}
		curves = append(curves, document{
			"name": curve.Name, "domain": curve.Domain, "label": curve.Label, "columns": columns,
		})
	}
	for _, warning := range report.Warnings {
		warnings = append(warnings, document{"code": warning.Code, "message": warning.Message, "count": warning.Count})
	}
	return document{
		"evaluator": report.Evaluator, "version": report.Version, "parameters": parameters,
		"truth_digest": report.TruthDigest, "detections_digest": report.DetectionsDigest,
		"scores": scores, "curves": curves, "warnings": warnings,
	}
}

func valueJSON(value vidscore.Value) any {
	if things, whole := value.Count(); whole {
		return things
	}
	if number, defined := value.Float64(); defined {
		return number
	}
	return nil
}

func kindOf(value vidscore.Value) string {
	if _, whole := value.Count(); whole {
		return "count"
	}
	if value.Defined() {
		return "number"
	}
	return "undefined"
}

func submissionJSON(submission *vidscore.Submission) document {
	streams := []document{}
	for _, stream := range submission.Streams {
		streams = append(streams, document{
			"stream": stream.Stream, "epoch": stream.Epoch, "next_offset": stream.NextOffset,
		})
	}
	return document{
		"name": submission.Name, "team": submission.Team, "title": submission.Title,
		"state": submission.State, "state_reason": submission.StateReason,
		"frame_count": submission.FrameCount, "streams": streams,
		"warnings": append([]string{}, submission.Warnings...),
	}
}

func scoresJSON(scores []*vidscore.SubmissionScore) []document {
	documents := []document{}
	for _, score := range scores {
		documents = append(documents, document{
			"partial": score.Partial, "current": score.Current, "report": reportJSON(score.Report),
		})
	}
	return documents
}
