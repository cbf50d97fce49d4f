package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

// shapes is the columns of coordinates of each geometry.
var shapes = map[vidscore.Geometry][]string{
	vidscore.Point:         {"x", "y"},
	vidscore.Box:           {"x1", "y1", "x2", "y2"},
	vidscore.Quadrilateral: {"x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"},
}

var flagWords = map[string]vidscore.ObjectFlag{
	"ignore": vidscore.Ignore, "crowd": vidscore.Crowd, "region": vidscore.Region, "distractor": vidscore.Distractor,
}

var knownColumns = []string{"domain", "sequence", "frame", "class", "confidence", "track_id", "flags", "time_s"}

// reader turns rows of the generic CSV into frames.
type reader struct {
	columns  map[string]int
	geometry vidscore.Geometry
	more     []string // further columns of numbers
	frames   []vidscore.Frame
	places   map[string]int // of each frame by domain, sequence and number
}

// readCSV reads frames in the order of their first rows, and the shape of their objects.
func readCSV(path string) ([]vidscore.Frame, vidscore.Geometry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	header, err := rows.Read()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	reader, err := newReader(header)
	for err == nil {
		var row []string
		if row, err = rows.Read(); err == nil {
			err = reader.add(row)
		}
	}
	if !errors.Is(err, io.EOF) {
		line, _ := rows.FieldPos(0)
		return nil, 0, fmt.Errorf("%s: line %d: %w", path, line, err)
	}
	return reader.frames, reader.geometry, nil
}

func newReader(header []string) (*reader, error) {
	found := &reader{columns: map[string]int{}, places: map[string]int{}}
	for place, name := range header {
		found.columns[strings.TrimSpace(name)] = place
	}
	most := 0
	for geometry, names := range shapes {
		if found.has(names...) && len(names) > most {
			found.geometry, most = geometry, len(names)
		}
	}
	if most == 0 || !found.has("sequence", "frame") {
		return nil, fmt.Errorf("found columns %v, expected sequence, frame and coordinates", header)
	}
	for name := range found.columns {
		if !slices.Contains(knownColumns, name) && !slices.Contains(shapes[found.geometry], name) {
			found.more = append(found.more, name)
		}
	}
	return found, nil
}

func (reader *reader) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, known := reader.columns[name]; return !known })
}

func (reader *reader) add(row []string) error {
	number, err := strconv.ParseInt(reader.cell(row, "frame"), 10, 64)
	if err != nil {
		return fmt.Errorf("frame: %w", err)
	}
	frame := reader.frame(reader.cell(row, "domain"), reader.cell(row, "sequence"), number)
	words := strings.FieldsFunc(reader.cell(row, "flags"), func(sign rune) bool { return sign == '|' })
	if slices.Contains(words, "dont_care_frame") {
		frame.DontCare = true
	}
	if reader.cell(row, "time_s") != "" {
		time, err := reader.number(row, "time_s", "")
		if err != nil {
			return err
		}
		frame.TimeS = &time
	}
	if reader.cell(row, shapes[reader.geometry][0]) == "" {
		return nil // the row only lists its frame
	}
	return reader.addObject(frame, row, words)
}

func (reader *reader) frame(domain, sequence string, number int64) *vidscore.Frame {
	key := fmt.Sprintf("%q %q %d", domain, sequence, number)
	place, known := reader.places[key]
	if !known {
		place = len(reader.frames)
		reader.places[key] = place
		reader.frames = append(reader.frames, vidscore.Frame{Domain: domain, Sequence: sequence, Number: number})
	}
	return &reader.frames[place]
}

func (reader *reader) addObject(frame *vidscore.Frame, row, words []string) error {
	for _, name := range shapes[reader.geometry] {
		coordinate, err := reader.number(row, name, "")
		if err != nil {
			return err
		}
		frame.Coordinates = append(frame.Coordinates, coordinate)
	}
	confidence, err := reader.number(row, "confidence", "1")
	if err != nil {
		return err
	}
	track, err := strconv.ParseInt(orElse(reader.cell(row, "track_id"), "-1"), 10, 64)
	if err != nil {
		return fmt.Errorf("track_id: %w", err)
	}
	var flags vidscore.ObjectFlag
	for _, word := range words {
		flags |= flagWords[word]
	}
	frame.Labels = append(frame.Labels, reader.cell(row, "class"))
	frame.Confidences = append(frame.Confidences, confidence)
	frame.TrackIDs = append(frame.TrackIDs, track)
	frame.Flags = append(frame.Flags, flags)
	return reader.addColumns(frame, row)
}

func (reader *reader) addColumns(frame *vidscore.Frame, row []string) error {
	if frame.Columns == nil {
		frame.Columns = map[string][]float64{}
	}
	for _, name := range reader.more {
		value, err := reader.number(row, name, "")
		if err != nil {
			return err
		}
		frame.Columns[name] = append(frame.Columns[name], value)
	}
	return nil
}

func (reader *reader) number(row []string, name, otherwise string) (float64, error) {
	value, err := strconv.ParseFloat(orElse(reader.cell(row, name), otherwise), 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// cell is a value of a row; empty if there is no such column.
func (reader *reader) cell(row []string, name string) string {
	place, known := reader.columns[name]
	if !known {
		return ""
	}
	return strings.TrimSpace(row[place])
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
