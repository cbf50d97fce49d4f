/* Quadrilaterals: whether their sides cross, their outlines, and the area that two of them share.

   The outline of a quadrilateral lists its corners so that they turn one way (from x to y),
   starting at the corner that turns the other way if there is one, else at the least corner. If
   sides cross, it is the outline of the convex hull. */

#include "kernels.h"

enum { QUADRILATERAL = 8, CORNERS = 4, AXES = 2, MOST_POINTS = 20 };

/* The side of the line from start to end on which a point lies: -1, 1, or 0 if on the line. */
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

/* Whether two opposite sides of each of (count, 8) quadrilaterals cross in their interiors; returns
   the number that do. */
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

/* Twice the signed area of the triangle of three points. */
static double twice_triangle(const double *first, const double *second, const double *third)
{
    return (second[0] - first[0]) * (third[1] - first[1])
           - (second[1] - first[1]) * (third[0] - first[0]);
}

/* Twice the signed area of a quadrilateral, from its diagonals. */
static double twice_area(const double *points)
{
    return (points[4] - points[0]) * (points[7] - points[3])
           - (points[5] - points[1]) * (points[6] - points[2]);
}

/* By how much a corner turns the other way; 0 if it turns as an outline does. */
static double wrong_turn(const double *points, int64_t corner)
{
    const double turn = twice_triangle(points + AXES * ((corner + 3) % CORNERS), points + AXES * corner,
                                       points + AXES * ((corner + 1) % CORNERS));
    return turn < 0.0 ? -turn : 0.0;
}

/* Whether the corners starting at one are lexicographically less than those starting at another. */
static int begins_less(const double *points, int64_t corner, int64_t other)
{
    for (int64_t step = 0; step < CORNERS; step++)
        for (int axis = 0; axis < AXES; axis++) {
            const double number = points[AXES * ((corner + step) % CORNERS) + axis];
            const double less_than = points[AXES * ((other + step) % CORNERS) + axis];
            if (number != less_than)
                return number < less_than;
        }
    return 0;
}

static int64_t first_corner(const double *points)
{
    int64_t first = 0;
    for (int64_t corner = 1; corner < CORNERS; corner++) {
        const double turn = wrong_turn(points, corner), most = wrong_turn(points, first);
        if (turn > most || (turn == most && begins_less(points, corner, first)))
            first = corner;
    }
    return first;
}

/* The least of the eight ways around four corners. Crossings are tested on it, so that rounding of
   a sliver does not depend on where its corners begin. */
static void least_way_around(const double *corners, double *least_way)
{
    for (int64_t start = 0; start < CORNERS; start++)
        for (int64_t stride = 1; stride < CORNERS; stride += 2) {
            double way[QUADRILATERAL];
            for (int64_t step = 0; step < CORNERS; step++)
                for (int axis = 0; axis < AXES; axis++)
                    way[AXES * step + axis] = corners[AXES * ((start + stride * step) % CORNERS) + axis];
            int64_t same = 0;
            while (same < QUADRILATERAL && way[same] == least_way[same])
                same++;
            const int is_first = start == 0 && stride == 1;
            if (is_first || (same < QUADRILATERAL && way[same] < least_way[same]))
                for (int64_t number = 0; number < QUADRILATERAL; number++)
                    least_way[number] = way[number];
        }
}

/* The order of the corners along the outline, before their direction is known. */
static void order_corners(const double *corners, int64_t *order)
{
    const double *first = corners, *second = corners + 2, *third = corners + 4, *fourth = corners + 6;
    order[0] = 0;
    order[1] = 1;
    order[2] = 2;
    order[3] = 3;
    /* Sides that cross are the diagonals of the hull. */
    if (cross(first, second, third, fourth)) {
        order[1] = 2;
        order[2] = 1;
    } else if (cross(second, third, fourth, first)) {
        order[2] = 3;
        order[3] = 2;
    }
}

/* The (count, 8) outlines of quadrilaterals; returns the number with an area. */
int64_t quadrilateral_outlines(const double *corners, int64_t count, double *outlines)
{
    int64_t found = 0;
    for (int64_t row = 0; row < count; row++) {
        double *outline = outlines + QUADRILATERAL * row;
        double given[QUADRILATERAL] = {0.0}, points[QUADRILATERAL];
        int64_t order[CORNERS];
        least_way_around(corners + QUADRILATERAL * row, given);
        order_corners(given, order);
        for (int64_t corner = 0; corner < CORNERS; corner++)
            for (int axis = 0; axis < AXES; axis++)
                points[AXES * corner + axis] = given[AXES * order[corner] + axis];
        const double area = twice_area(points);
        if (area < 0.0)
            for (int axis = 0; axis < AXES; axis++) {
                const double kept = points[AXES + axis];
                points[AXES + axis] = points[3 * AXES + axis];
                points[3 * AXES + axis] = kept;
            }
        const int64_t first = first_corner(points);
        for (int64_t corner = 0; corner < CORNERS; corner++)
            for (int axis = 0; axis < AXES; axis++)
                outline[AXES * corner + axis] = points[AXES * ((first + corner) % CORNERS) + axis];
        found += area != 0.0;
    }
    return found;
}

/* The areas of (count, 8) outlines; returns the number of areas above 0. */
int64_t outline_areas(const double *outlines, int64_t count, double *areas)
{
    int64_t found = 0;
    for (int64_t row = 0; row < count; row++) {
        const double twice = twice_area(outlines + QUADRILATERAL * row);
        areas[row] = twice > 0.0 ? twice / 2.0 : 0.0;
        found += twice > 0.0;
    }
    return found;
}

static double least(double number, double other)
{
    return number < other ? number : other;
}

static double greatest(double number, double other)
{
    return number > other ? number : other;
}

/* Least and greatest coordinate of an outline along an axis. */
static void extent(const double *outline, int axis, double *low, double *high)
{
    low[0] = high[0] = outline[axis];
    for (int64_t corner = 1; corner < CORNERS; corner++) {
        low[0] = least(low[0], outline[AXES * corner + axis]);
        high[0] = greatest(high[0], outline[AXES * corner + axis]);
    }
}

static int is_upright(const double *outline)
{
    return outline[0] == outline[6] && outline[2] == outline[4] && outline[1] == outline[3]
           && outline[5] == outline[7];
}

/* Keep the part on the left of the line from start to end; returns its number of points. */
static int64_t clip(const double *points, int64_t count, const double *start, const double *end,
                    double *kept)
{
    int64_t found = 0;
    for (int64_t index = 0; index < count; index++) {
        const double *point = points + AXES * index;
        const double *next = points + AXES * (index + 1 < count ? index + 1 : 0);
        const double here = twice_triangle(start, end, point), there = twice_triangle(start, end, next);
        if (here >= 0.0) {
            kept[AXES * found] = point[0];
            kept[AXES * found + 1] = point[1];
            found++;
        }
        if ((here > 0.0 && there < 0.0) || (here < 0.0 && there > 0.0)) {
            const double part = here / (here - there);
            kept[AXES * found] = point[0] + part * (next[0] - point[0]);
            kept[AXES * found + 1] = point[1] + part * (next[1] - point[1]);
            found++;
        }
    }
    return found;
}

/* The area of a polygon inside a convex one of `count` corners: Sutherland and Hodgman, "Reentrant
   polygon clipping", 1974. The clipped polygon need not be convex: parts along the sides of the
   convex one have no area. */
static double area_inside(const double *polygon, const double *convex, int64_t count)
{
    double first[AXES * MOST_POINTS], second[AXES * MOST_POINTS];
    double *points = first, *others = second;
    int64_t point_count = CORNERS;
    for (int64_t index = 0; index < QUADRILATERAL; index++)
        points[index] = polygon[index];
    for (int64_t side = 0; side < count; side++) {
        const int64_t next = side + 1 < count ? side + 1 : 0;
        point_count = clip(points, point_count, convex + AXES * side, convex + AXES * next, others);
        double *kept = points;
        points = others;
        others = kept;
    }
    double twice = 0.0;
    for (int64_t index = 1; index + 1 < point_count; index++)
        twice += twice_triangle(points, points + AXES * index, points + AXES * (index + 1));
    return twice / 2.0;
}

/* The area that two outlines share, after both are moved so that one begins at (0, 0): near it,
   numbers are as exact as the outlines are small, wherever in the image they are. */
static double overlap(const double *polygon, const double *other)
{
    double outline[QUADRILATERAL], moved[QUADRILATERAL];
    for (int64_t index = 0; index < QUADRILATERAL; index++) {
        outline[index] = polygon[index] - polygon[index % AXES];
        moved[index] = other[index] - polygon[index % AXES];
    }
    if (wrong_turn(outline, 0) == 0.0)
        return area_inside(moved, outline, CORNERS);
    /* A diagonal from the corner that turns the other way makes two triangles. */
    double half[3 * AXES], area = 0.0;
    for (int64_t second = 1; second < CORNERS - 1; second++) {
        for (int axis = 0; axis < AXES; axis++) {
            half[axis] = outline[axis];
            half[AXES + axis] = outline[AXES * second + axis];
            half[2 * AXES + axis] = outline[AXES * (second + 1) + axis];
        }
        if (twice_triangle(half, half + AXES, half + 2 * AXES) > 0.0)
            area += area_inside(moved, half, 3);
    }
    return area;
}

static int comes_first(const double *outline, const double *other)
{
    for (int64_t index = 0; index < QUADRILATERAL; index++)
        if (outline[index] != other[index])
            return outline[index] < other[index];
    return 0;
}

/* The area that two outlines share, the same for both orders of the two. Upright boxes use the
   arithmetic of boxes, and an outline shares its own area with itself. */
static double shared_area(const double *first, const double *second)
{
    double common[AXES];
    for (int axis = 0; axis < AXES; axis++) {
        double low, high, other_low, other_high;
        extent(first, axis, &low, &high);
        extent(second, axis, &other_low, &other_high);
        common[axis] = least(high, other_high) - greatest(low, other_low);
    }
    const double twice = twice_area(first), other_twice = twice_area(second);
    if (!(common[0] > 0.0 && common[1] > 0.0 && twice > 0.0 && other_twice > 0.0))
        return 0.0;
    if (is_upright(first) && is_upright(second))
        return common[0] * common[1];
    const int in_order = comes_first(first, second);
    if (!in_order && !comes_first(second, first))
        return twice / 2.0;
    const double area = in_order ? overlap(first, second) : overlap(second, first);
    return greatest(0.0, least(area, least(twice, other_twice) / 2.0));
}

/* The areas that (count, 8) outlines share with others; returns the number of areas above 0. */
int64_t shared_areas(const double *first, const double *second, int64_t count, double *areas)
{
    int64_t found = 0;
    for (int64_t row = 0; row < count; row++) {
        areas[row] = shared_area(first + QUADRILATERAL * row, second + QUADRILATERAL * row);
        found += areas[row] > 0.0;
    }
    return found;
}
