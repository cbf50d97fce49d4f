package vidscore

import (
	"context"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// Benchmark is one hosted benchmark, as far as the caller may see it; [ErrNotFound] if there is
// none of that name.
func (client *Client) Benchmark(ctx context.Context, benchmark string) (*Benchmark, error) {
	name, err := benchmarkName(benchmark)
	if err != nil {
		return nil, err
	}
	response, err := unary(ctx, client, client.benchmarks.GetBenchmark, &vidscorev1.GetBenchmarkRequest{Name: name})
	if err != nil {
		return nil, err
	}
	return decodeBenchmark(response.GetBenchmark()), nil
}

// Benchmarks is all hosted benchmarks, sorted by name.
func (client *Client) Benchmarks(ctx context.Context) ([]*Benchmark, error) {
	var found []*Benchmark
	err := eachPage(func(token string) (string, error) {
		request := &vidscorev1.ListBenchmarksRequest{PageToken: token}
		response, err := unary(ctx, client, client.benchmarks.ListBenchmarks, request)
		for _, benchmark := range response.GetBenchmarks() {
			found = append(found, decodeBenchmark(benchmark))
		}
		return response.GetNextPageToken(), err
	})
	return found, err
}

// LeaderboardOptions chooses a board of a benchmark.
type LeaderboardOptions struct {
	// Evaluator that ranks; empty for the first one of the specification.
	Evaluator string
	// Domain of the scores; nil for all together.
	Domain *string
	// Label of the scores; nil for all together.
	Label *string
}

// Leaderboard is the submissions to a benchmark in rank order; [ErrConflict] if the policy does not
// release such a board.
func (client *Client) Leaderboard(ctx context.Context, benchmark string, options LeaderboardOptions) (*Leaderboard, error) {
	name, err := benchmarkName(benchmark)
	if err != nil {
		return nil, err
	}
	board := &Leaderboard{}
	err = eachPage(func(token string) (string, error) {
		response, err := unary(ctx, client, client.benchmarks.GetLeaderboard, &vidscorev1.GetLeaderboardRequest{
			Benchmark: name, Evaluator: options.Evaluator,
			Domain: options.Domain, Label: options.Label, PageToken: token,
		})
		for _, row := range response.GetRows() {
			board.Rows = append(board.Rows, decodeLeaderboardRow(row))
		}
		board.Ranking, board.TruthRevision = response.GetRanking(), response.GetTruthRevision()
		board.NewestTruthRevision = response.GetNewestTruthRevision()
		return response.GetNextPageToken(), err
	})
	if err != nil {
		return nil, err
	}
	return board, nil
}
