package vidscore

import (
	"fmt"
	"math"
)

// Mask is the pixels of an object in an image.
type Mask struct {
	// Height and Width of the image in pixels.
	Height, Width uint32
	// Runs is the lengths of alternating runs of pixels outside and inside the object, beginning
	// outside, column after column. They fill the image.
	Runs []uint32
}

const (
	textZero  = '0'
	textDigit = 31
	textSign  = 16
	textMore  = 32
	digitBits = 5
	// longestNumber is the maximum number of characters of the difference of two runs.
	longestNumber = 8
)

// MaskOfText reads the compressed text that COCO's tools write for the runs of a mask: digits of
// five bits, the lowest first. From the fourth number on, each is the difference to the run before
// the last one.
func MaskOfText(height, width uint32, text string) (Mask, error) {
	runs := make([]uint32, 0, len(text))
	for place := 0; place < len(text); {
		number, length := int64(0), 0
		for more := true; more; length++ {
			if place == len(text) || length == longestNumber {
				return Mask{}, maskError(text)
			}
			character := int64(text[place]) - textZero
			if character < 0 || character > textDigit+textMore {
				return Mask{}, maskError(text)
			}
			place++
			more = character&textMore != 0
			number |= (character & textDigit) << (digitBits * length)
			if !more && character&textSign != 0 {
				number -= 1 << (digitBits * (length + 1))
			}
		}
		if index := len(runs); index > 2 {
			number += int64(runs[index-2])
		}
		if number < 0 || number > math.MaxUint32 {
			return Mask{}, maskError(text)
		}
		runs = append(runs, uint32(number))
	}
	return Mask{height, width, runs}, nil
}

func maskError(text string) error {
	return inputError("Masks", fmt.Sprintf("%.80q", text), "a compressed text of runs, as COCO's tools write it")
}
