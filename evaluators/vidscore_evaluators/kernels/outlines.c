/* Corners of polygons, before their outlines are traced. */

#include "kernels.h"

enum { AXES = 2, FIFTHS = 5 };

static int64_t distance(int64_t from, int64_t to) { return from > to ? from - to : to - from; }

/* Rounds coordinates to whole fifths of pixels: towards 0, also if negative, as COCO's scorer does;
   returns whether all are numbers of at most `most`. */
static int round_coordinates(const double *coordinates, int64_t count, double most,
                             int64_t *corners)
{
    int all_fit = 1;
    for (int64_t index = 0; index < count; index++) {
        const double number = coordinates[index];
        const int fits = number >= -most && number <= most;
        corners[index] = fits ? (int64_t)(FIFTHS * number + 0.5) : 0;
        all_fit &= fits;
    }
    return all_fit;
}

/* Corners of polygons, whose points are alternating x and y, at least one pair each. `spans` has
   first, for each polygon, the length of its outline in fifths, each side along its longer axis, or
   -1 if a coordinate is not a number up to `most`; then, for each, an upper bound on the columns
   that it crosses. Returns the number of polygons with valid coordinates. */
int64_t rounded_corners(const double *points, const int64_t *starts, int64_t count, int64_t most,
                        int64_t *corners, int64_t *spans)
{
    int64_t fine = 0;
    for (int64_t row = 0; row < count; row++) {
        const int64_t length = starts[row + 1] - starts[row];
        int64_t *const own = corners + starts[row];
        const int fits = round_coordinates(points + starts[row], length, (double)most, own);
        const int64_t *last = own + length - AXES;
        int64_t outline = 0, crossed = 0;
        for (const int64_t *corner = own; corner < own + length; corner += AXES) {
            const int64_t along = distance(last[0], corner[0]), down = distance(last[1], corner[1]);
            const int64_t side = along > down ? along : down;
            outline += side;
            crossed += side / FIFTHS + 1;
            last = corner;
        }
        spans[row] = fits ? outline : -1;
        spans[count + row] = crossed;
        fine += fits;
    }
    return fine;
}
