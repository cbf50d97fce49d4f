// Command score_file scores detections in a generic CSV file against truth in another one, on a
// server that keeps nothing, and prints the table:
//
//	go run ./examples/score_file localhost:50051 f1 truth.csv detections.csv
package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: score_file ADDRESS EVALUATOR TRUTH.csv DETECTIONS.csv")
		os.Exit(2)
	}
	if err := score(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func score(address, evaluator, truthPath, detectionsPath string) error {
	truth, truthGeometry, err := readCSV(truthPath)
	if err != nil {
		return err
	}
	detections, detectionGeometry, err := readCSV(detectionsPath)
	if err != nil {
		return err
	}
	client, err := vidscore.Connect(address)
	if err != nil {
		return err
	}
	defer client.Close()
	reports, err := client.Score(context.Background(), truth, detections, vidscore.ScoreOptions{
		Evaluators:        []vidscore.Evaluator{{Name: evaluator}},
		TruthGeometry:     truthGeometry,
		DetectionGeometry: detectionGeometry,
	})
	for _, report := range reports {
		fmt.Println(report.Evaluator, report.Version)
		show(report)
	}
	return err
}

func show(report *vidscore.Report) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "domain\tclass\tsequence\tmeasure\tscore")
	for _, row := range report.Scores {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", all(row.Domain), all(row.Label), all(row.Sequence), row.Measure, row.Value)
	}
	_ = table.Flush() // standard output is all that could fail
}

// all shows a dimension; an absent one stands for all.
func all(name *string) string {
	if name == nil {
		return "*"
	}
	return *name
}
