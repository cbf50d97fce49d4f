package io.github.vidscore.client;

import java.util.Arrays;

/** The pixels of an object in an image; it never changes. */
public final class Mask {
  private static final int ZERO = '0';
  private static final int DIGIT = 31;
  private static final int SIGN = 16;
  private static final int MORE = 32;
  private static final int DIGIT_BITS = 5;

  /** Maximum characters of the difference of two runs. */
  private static final int LONGEST_NUMBER = 8;

  final int height;
  final int width;
  final int[] runs;

  private Mask(int height, int width, int[] runs) {
    Checks.atLeast("height", height, 0);
    Checks.atLeast("width", width, 0);
    for (int run : runs) {
      Checks.atLeast("runs", run, 0);
    }
    this.height = height;
    this.width = width;
    this.runs = runs;
  }

  /**
   * Makes a mask of runs.
   *
   * @param height height of the image in pixels
   * @param width width of the image in pixels
   * @param runs lengths of alternating runs of pixels outside and inside the object, beginning
   *     outside, column after column; they fill the image
   * @return the mask
   * @throws InputException if a number is below 0
   */
  public static Mask of(int height, int width, int... runs) {
    return new Mask(height, width, runs.clone());
  }

  /**
   * Makes a mask of the compressed text that COCO's tools write for its runs: digits of five bits,
   * the lowest first. From the fourth number on, each is the difference to the run before the last
   * one.
   *
   * @param height height of the image in pixels
   * @param width width of the image in pixels
   * @param text the text
   * @return the mask
   * @throws InputException if the text is invalid
   */
  public static Mask ofText(int height, int width, String text) {
    int[] runs = new int[Checks.given("text", text).length()];
    int count = 0;
    for (int place = 0; place < text.length(); count++) {
      long number = 0;
      int length = 0;
      int character = MORE;
      while ((character & MORE) != 0) {
        character = place < text.length() ? text.charAt(place++) - ZERO : -1;
        if (character < 0 || character > DIGIT + MORE || length == LONGEST_NUMBER) {
          throw noText(text);
        }
        number |= (long) (character & DIGIT) << (DIGIT_BITS * length++);
      }
      if ((character & SIGN) != 0) {
        number -= 1L << (DIGIT_BITS * length);
      }
      number += count > 2 ? runs[count - 2] : 0;
      if (number < 0 || number > Integer.MAX_VALUE) {
        throw noText(text);
      }
      runs[count] = (int) number;
    }
    return new Mask(height, width, Arrays.copyOf(runs, count));
  }

  private static VidscoreException noText(String text) {
    String found = text.substring(0, Math.min(text.length(), 80));
    return Failure.input("text", found, "a compressed text of runs, as COCO's tools write it");
  }
}
