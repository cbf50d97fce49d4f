package io.github.vidscore.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.vidscore.v1.AnnotationBatch;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Masks become columns of the wire. */
class MaskTest {
  private static final Mask ONE = Mask.of(2, 3, 1, 2, 3);
  private static final Mask OTHER = Mask.of(2, 3, 0, 6);
  private static final Frame PLAIN = Frame.of("a", 1).coordinates(0, 0, 3, 2).build();
  private static final Frame EMPTY = Frame.of("a", 2).build();

  private static Frame masked(long number, Mask... masks) {
    return Frame.of("a", number).coordinates(new double[4 * masks.length]).masks(masks).build();
  }

  /** The vector of all clients: 480 by 640 pixels, as pycocotools writes them. */
  @Test
  void theTextOfAMaskIsItsRuns() {
    Mask mask = Mask.ofText(480, 640, "32n0Vo0SOPRO[nZ9");
    assertEquals(480, mask.height);
    assertEquals(640, mask.width);
    assertArrayEquals(new int[] {3, 2, 30, 1000, 1, 40, 306124}, mask.runs);
  }

  @Test
  void aTextThatIsNoneIsRefused() {
    for (String text : List.of("/", "p", "V", "\u00e9", "O", "ooooooooo0", "00006O")) {
      assertThrows(InputException.class, () -> Mask.ofText(2, 3, text), text);
    }
    assertThrows(InputException.class, () -> Mask.of(2, 3, -1, 7));
  }

  @Test
  void masksAreColumns() {
    AnnotationBatch message =
        Encoding.frames(List.of(masked(0, ONE, OTHER), EMPTY, masked(3, OTHER)), Geometry.BOX);
    assertEquals(List.of(2, 2, 2), message.getMaskHeightsList());
    assertEquals(List.of(3, 3, 3), message.getMaskWidthsList());
    assertEquals(List.of(3, 2, 2), message.getMaskRunCountsList());
    assertEquals(List.of(1, 2, 3, 0, 6, 0, 6), message.getMaskRunsList());
  }

  @Test
  void framesWithMasksAndWithoutGoIntoMessagesOfTheirOwn() {
    assertFalse(masked(0, ONE).joins(PLAIN));
    assertTrue(masked(0, ONE).joins(EMPTY));
    assertTrue(masked(0, ONE).joins(masked(1, OTHER)));
  }

  @Test
  void theBytesOfMasksCount() {
    assertEquals(15 + 3 * 5, Outbox.sizeOf(masked(0, ONE), 4) - Outbox.sizeOf(PLAIN, 4));
  }

  @Test
  void thereIsAMaskForEachObject() {
    Frame frame = Frame.of("a", 0).coordinates(new double[8]).masks(ONE).build();
    assertThrows(InputException.class, () -> frame.checked(4));
  }
}
