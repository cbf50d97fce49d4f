// Command linearizable says of histories of submissions whether they are linearizable: whether each
// call can have taken effect at one moment between its start and its end, by the rules of offsets
// and epochs. It reads a history a line, as JSON, and writes a verdict a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	mostLineBytes = 16 << 20
	longestCheck  = time.Minute
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, mostLineBytes)
	for lines.Scan() {
		var calls []call
		if err := json.Unmarshal(lines.Bytes(), &calls); err != nil {
			fmt.Fprintln(os.Stderr, "a history cannot be read:", err)
			os.Exit(2)
		}
		operations := make([]porcupine.Operation, len(calls))
		for row, made := range calls {
			operations[row] = porcupine.Operation{
				ClientId: made.Client, Input: made, Call: made.Start, Output: made, Return: made.End,
			}
		}
		fmt.Println(porcupine.CheckOperationsTimeout(submissions, operations, longestCheck))
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
