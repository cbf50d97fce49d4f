/* Outlines of objects, given by their corners x1, y1, x2, y2 and so on. */

#include <stdint.h>

enum { QUADRILATERAL = 8 };

/* On which side of the line from start to end a point lies: -1, 1, or 0 on it. */
static int side_of(const double *start, const double *end, const double *point)
{
    const double across = (end[0] - start[0]) * (point[1] - start[1])
                          - (end[1] - start[1]) * (point[0] - start[0]);
    return (across > 0.0) - (across < 0.0);
}

/* Whether the segments start-end and other-last cross at a point inside both. */
static int cross(const double *start, const double *end, const double *other, const double *last)
{
    return side_of(start, end, other) * side_of(start, end, last) < 0
           && side_of(other, last, start) * side_of(other, last, end) < 0;
}

/* Tell of (count, 8) corners of quadrilaterals whether two opposite sides cross in their interiors;
   returns how many do. */
int64_t sides_cross(const double *corners, int64_t count, uint8_t *crossing)
{
    int64_t found = 0;
    for (int64_t row = 0; row < count; row++) {
        const double *first = corners + QUADRILATERAL * row;
        const double *second = first + 2, *third = first + 4, *fourth = first + 6;
        crossing[row] = (uint8_t)(cross(first, second, third, fourth)
                                  || cross(second, third, fourth, first));
        found += crossing[row];
    }
    return found;
}

/* Write the (count, 4) least upright boxes around objects of so many points, one at least. */
int64_t envelopes(const double *corners, int64_t count, int64_t points, double *boxes)
{
    for (int64_t row = 0; row < count; row++) {
        const double *point = corners + 2 * points * row;
        double least_x = point[0], greatest_x = point[0];
        double least_y = point[1], greatest_y = point[1];
        for (int64_t index = 1; index < points; index++) {
            point += 2;
            least_x = point[0] < least_x ? point[0] : least_x;
            least_y = point[1] < least_y ? point[1] : least_y;
            greatest_x = point[0] > greatest_x ? point[0] : greatest_x;
            greatest_y = point[1] > greatest_y ? point[1] : greatest_y;
        }
        double *box = boxes + 4 * row;
        box[0] = least_x;
        box[1] = least_y;
        box[2] = greatest_x;
        box[3] = greatest_y;
    }
    return count;
}
