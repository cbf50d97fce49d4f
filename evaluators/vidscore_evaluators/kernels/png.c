/* Bytes of PNG images, which are stored as differences from neighbours. */

#include "kernels.h"

enum { NO_FILTER, SUB, UP, AVERAGE, PAETH };

/* The neighbour that is nearest to the value predicted from all three; of equal ones the first. */
static int paeth(int left, int above, int corner)
{
    const int to_left = above < corner ? corner - above : above - corner;
    const int to_above = left < corner ? corner - left : left - corner;
    const int sum = left + above - 2 * corner;
    const int to_corner = sum < 0 ? -sum : sum;
    if (to_left <= to_above && to_left <= to_corner)
        return left;
    return to_above <= to_corner ? above : corner;
}

/* Replaces `height` filtered rows by their bytes. A row is the number of its filter and `size`
   filtered bytes, in which bytes `step` apart are neighbours. Returns the first row with an unknown
   filter, which is left as it was with those below, or `height`. */
int64_t unfilter_rows(uint8_t *rows, int64_t height, int64_t size, int64_t step)
{
    for (int64_t row = 0; row < height; row++) {
        uint8_t *const here = rows + row * (size + 1) + 1;
        const int filter = here[-1];
        if (filter > PAETH)
            return row;
        for (int64_t index = 0; index < size; index++) {
            const int left = index < step ? 0 : here[index - step];
            const int above = row == 0 ? 0 : here[index - size - 1];
            const int corner = row == 0 || index < step ? 0 : here[index - size - 1 - step];
            int guess = 0;
            if (filter == SUB)
                guess = left;
            else if (filter == UP)
                guess = above;
            else if (filter == AVERAGE)
                guess = (left + above) / 2;
            else if (filter == PAETH)
                guess = paeth(left, above, corner);
            here[index] = (uint8_t)(here[index] + guess);
        }
    }
    return height;
}
