package vidscore

import (
	"fmt"
	"strings"
)

// benchmarkName is benchmarks/{benchmark}, from the full name or its last part.
func benchmarkName(benchmark string) (string, error) {
	return resourceName("benchmark", benchmark, "benchmarks")
}

// submissionName is benchmarks/{benchmark}/submissions/{submission}, from the full name or
// {benchmark}/{submission}.
func submissionName(submission string) (string, error) {
	return resourceName("submission", submission, "benchmarks", "submissions")
}

func resourceName(argument, name string, collections ...string) (string, error) {
	parts := strings.Split(name, "/")
	if len(parts) == 2*len(collections) {
		parts = lastParts(parts, collections)
	}
	full, shown := make([]string, 0, 2*len(collections)), make([]string, len(collections))
	for index, collection := range collections {
		shown[index] = "{" + strings.TrimSuffix(collection, "s") + "}"
		if len(parts) == len(collections) && parts[index] != "" {
			full = append(full, collection, parts[index])
		}
	}
	if len(full) != 2*len(collections) {
		return "", inputError(argument, fmt.Sprintf("%.80q", name), "a name like "+strings.Join(shown, "/"))
	}
	return strings.Join(full, "/"), validText(argument, name)
}

// lastParts is the part after each collection; none if the collections differ.
func lastParts(parts, collections []string) []string {
	var own []string
	for index, collection := range collections {
		if parts[2*index] != collection {
			return nil
		}
		own = append(own, parts[2*index+1])
	}
	return own
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
