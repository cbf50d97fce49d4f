package vidscore

import (
	"slices"
	"testing"
)

// The vector of all clients: 480 by 640 pixels, as pycocotools writes them.
var (
	vectorRuns = []uint32{3, 2, 30, 1000, 1, 40, 306124}
	vectorText = "32n0Vo0SOPRO[nZ9"
)

func TestTheTextOfAMaskIsItsRuns(t *testing.T) {
	mask, err := MaskOfText(480, 640, vectorText)
	if err != nil {
		t.Fatal(err)
	}
	if mask.Height != 480 || mask.Width != 640 || !slices.Equal(mask.Runs, vectorRuns) {
		t.Errorf("got %v", mask)
	}
}

func TestATextThatIsNoneIsRefused(t *testing.T) {
	for _, text := range []string{"/", "p", "V", "é", "O", "ooooooooo0", "00006O"} {
		if _, err := MaskOfText(2, 3, text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func masked(number int64, masks ...Mask) Frame {
	return Frame{Sequence: "a", Number: number, Coordinates: make([]float64, 4*len(masks)), Masks: masks}
}

func TestMasksAreColumnsOfTheWire(t *testing.T) {
	one, other := Mask{2, 3, []uint32{1, 2, 3}}, Mask{2, 3, []uint32{0, 6}}
	items, err := newItems([]Frame{masked(0, one, other), masked(1, other)}, 4)
	if err != nil {
		t.Fatal(err)
	}
	message := encodeItems(items, 4)
	if !slices.Equal(message.MaskHeights, []uint32{2, 2, 2}) ||
		!slices.Equal(message.MaskWidths, []uint32{3, 3, 3}) ||
		!slices.Equal(message.MaskRunCounts, []uint32{3, 2, 2}) ||
		!slices.Equal(message.MaskRuns, []uint32{1, 2, 3, 0, 6, 0, 6}) {
		t.Errorf("got %v", message)
	}
}

func TestFramesWithMasksAndWithoutGoIntoMessagesOfTheirOwn(t *testing.T) {
	plain := Frame{Sequence: "a", Number: 1, Coordinates: make([]float64, 4)}
	empty := Frame{Sequence: "a", Number: 2}
	items, err := newItems([]Frame{masked(0, Mask{1, 1, []uint32{1}}), plain, empty}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if items[0].joins(&items[1]) || !items[0].joins(&items[2]) || !items[1].joins(&items[2]) {
		t.Error("a message has masks of all of its objects or of none")
	}
	if items[0].size-items[1].size != 15+5 {
		t.Errorf("the mask counts %d bytes", items[0].size-items[1].size)
	}
}

func TestThereIsAMaskForEachObject(t *testing.T) {
	frame := masked(0, Mask{1, 1, []uint32{1}})
	frame.Coordinates = make([]float64, 8)
	if _, err := newItem(frame, 4); err == nil {
		t.Error("one mask of two objects was taken")
	}
}
