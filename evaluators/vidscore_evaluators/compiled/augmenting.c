/* A maximum matching that grows by augmenting paths, while right objects come in one by one. */

#include <stdint.h>

enum { NOBODY = -1, EXHAUSTED = -2 };

typedef struct {
    int64_t *starts;       /* (right_count + 2,) offsets of right objects into `partners` */
    int64_t *partners;     /* left objects */
    int64_t *left_of;      /* (right_count,) who each is matched with */
    int64_t *right_of;     /* (left_count,) */
    int64_t *seen_by;      /* (left_count,) the last right object whose search came here, or EXHAUSTED */
    int64_t *reached_from; /* (left_count,) from which right object it did */
    int64_t *queue;        /* (right_count,) right objects that a search goes on from */
} Matching;

static Matching nothing_matched(const int64_t *left, const int64_t *right, int64_t pair_count,
                                int64_t left_count, int64_t right_count, int64_t *scratch)
{
    Matching matching;
    matching.starts = scratch;
    matching.partners = matching.starts + right_count + 2;
    matching.left_of = matching.partners + pair_count;
    matching.right_of = matching.left_of + right_count;
    matching.seen_by = matching.right_of + left_count;
    matching.reached_from = matching.seen_by + left_count;
    matching.queue = matching.reached_from + left_count;
    for (int64_t row = 0; row < right_count + 2; row++)
        matching.starts[row] = 0;
    for (int64_t row = 0; row < right_count; row++)
        matching.left_of[row] = NOBODY;
    for (int64_t row = 0; row < left_count; row++)
        matching.right_of[row] = matching.seen_by[row] = NOBODY;
    /* Starts stand one further on until the partners are in. */
    for (int64_t pair = 0; pair < pair_count; pair++)
        matching.starts[right[pair] + 2]++;
    for (int64_t row = 2; row < right_count + 2; row++)
        matching.starts[row] += matching.starts[row - 1];
    for (int64_t pair = 0; pair < pair_count; pair++)
        matching.partners[matching.starts[right[pair] + 1]++] = left[pair];
    return matching;
}

/* Match along the path that ends in a free left object, from its end to its start. */
static void shift(Matching *matching, int64_t free)
{
    while (free != NOBODY) {
        const int64_t right = matching->reached_from[free];
        const int64_t before = matching->left_of[right];
        matching->right_of[free] = right;
        matching->left_of[right] = free;
        free = before;
    }
}

/* Match one more right object, if there is an augmenting path for it; returns whether there is.

   A search that fails has seen left objects from which no free one can be reached, and no later path
   leads through them either. */
static int insert(Matching *matching, int64_t inserted)
{
    int64_t waiting = 0, queued = 0;
    matching->queue[queued++] = inserted;
    while (waiting < queued) {
        const int64_t right = matching->queue[waiting++];
        for (int64_t index = matching->starts[right]; index < matching->starts[right + 1]; index++) {
            const int64_t left = matching->partners[index];
            if (matching->seen_by[left] == EXHAUSTED || matching->seen_by[left] == inserted)
                continue;
            matching->seen_by[left] = inserted;
            matching->reached_from[left] = right;
            if (matching->right_of[left] == NOBODY) {
                shift(matching, left);
                return 1;
            }
            matching->queue[queued++] = matching->right_of[left];
        }
    }
    for (int64_t index = 1; index < queued; index++)
        matching->seen_by[matching->left_of[matching->queue[index]]] = EXHAUSTED;
    return 0;
}

/* Tell of (right_count,) right objects which make the maximum matching greater when they come in, in
   the order in which they are given.

   A pair joins left[pair] and right[pair], numbers below left_count and right_count. Takes
   (pair_count + 3 * left_count + 3 * right_count + 2,) scratch. Returns how many gain. */
int64_t augment(const int64_t *left, const int64_t *right, int64_t pair_count, const int64_t *order,
                int64_t left_count, int64_t right_count, int64_t *scratch, uint8_t *gains)
{
    Matching matching
        = nothing_matched(left, right, pair_count, left_count, right_count, scratch);
    int64_t size = 0;
    for (int64_t place = 0; place < right_count; place++) {
        gains[order[place]] = (uint8_t)insert(&matching, order[place]);
        size += gains[order[place]];
    }
    return size;
}
