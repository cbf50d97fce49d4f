/* Connected components, and matchings: greedy, incremental, and a reduction for maximum weight. */

#include "kernels.h"

/* The root of a node's component, with path halving. */
static int64_t root_of(int64_t *roots, int64_t node)
{
    while (roots[node] != node) {
        roots[node] = roots[roots[node]];
        node = roots[node];
    }
    return node;
}

/* The least node of the connected component of each node.

   Edge e joins nodes left[e] and right[e]. Writes (node_count,) roots; returns the number of
   components. */
int64_t component_labels(const int64_t *left, const int64_t *right, int64_t edge_count,
                         int64_t node_count, int64_t *roots)
{
    int64_t components = node_count;
    for (int64_t node = 0; node < node_count; node++)
        roots[node] = node;
    for (int64_t edge = 0; edge < edge_count; edge++) {
        const int64_t first = root_of(roots, left[edge]), second = root_of(roots, right[edge]);
        roots[first > second ? first : second] = first < second ? first : second;
        components -= first != second;
    }
    /* The parent of every node is smaller, so its root is already final. */
    for (int64_t node = 0; node < node_count; node++)
        roots[node] = roots[roots[node]];
    return components;
}

/* Greedy matching: each detection, in the order of the pairs, takes its first free target.

   Pairs of a detection are adjacent, the best first; pairs less similar than `at_least[0]` do not
   count. A target that is not `reusable` is taken at most once; (target_count,) `taken` is scratch.
   Writes the chosen pairs, and returns their number, or -1 if a target is not below
   `target_count`. */
int64_t match_greedy(const int64_t *detections, const int64_t *targets, const double *similarities,
                     int64_t pair_count, const double *at_least, const uint8_t *reusable,
                     int64_t target_count, uint8_t *taken, int64_t *chosen)
{
    int64_t found = 0;
    for (int64_t target = 0; target < target_count; target++)
        taken[target] = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        const int64_t target = targets[pair];
        if (target < 0 || target >= target_count)
            return -1;
        if (!(similarities[pair] >= at_least[0]) || taken[target])
            continue;
        if (found && detections[chosen[found - 1]] == detections[pair])
            continue;
        taken[target] = !reusable[target];
        chosen[found++] = pair;
    }
    return found;
}

/* Criteria that order the pairs of an object. */
struct preferences {
    const double *weights;
    const uint8_t *second_choice;
    const double *last;
};

static int is_better(const struct preferences *by, int64_t pair, int64_t other)
{
    if (by->second_choice[pair] != by->second_choice[other])
        return by->second_choice[pair] < by->second_choice[other];
    if (by->weights[pair] != by->weights[other])
        return by->weights[pair] > by->weights[other];
    if (by->last[pair] != by->last[other])
        return by->last[pair] > by->last[other];
    return pair < other;
}

/* Sorts pairs, whose left objects ascend, for each left object from best to worst: second choices
   after all others, then by descending weight, then by descending `last`, then as they are. It uses
   Shell's method, since most objects have few pairs. Returns 0, or -1 if left objects descend. */
int64_t preference_order(const int64_t *left, const double *weights, const uint8_t *second_choice,
                         const double *last, int64_t pair_count, int64_t *order)
{
    static const int64_t GAPS[] = {797161, 265720, 88573, 29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};
    enum { GAP_COUNT = sizeof GAPS / sizeof GAPS[0] };
    const struct preferences by = {weights, second_choice, last};
    for (int64_t begin = 0, end = 0; begin < pair_count; begin = end) {
        for (; end < pair_count && left[end] == left[begin]; end++)
            order[end] = end;
        if (end < pair_count && left[end] < left[begin])
            return -1;
        for (int which = 0; which < GAP_COUNT; which++) {
            const int64_t gap = GAPS[which];
            for (int64_t index = begin + gap; index < end; index++) {
                const int64_t pair = order[index];
                int64_t place = index;
                for (; place - gap >= begin && is_better(&by, pair, order[place - gap]); place -= gap)
                    order[place] = order[place - gap];
                order[place] = pair;
            }
        }
    }
    return 0;
}

enum { UNMATCHED = -1, EXHAUSTED = -2 };

typedef struct {
    int64_t *starts;       /* (right_count + 2,) offsets of right objects into `partners` */
    int64_t *partners;     /* left objects */
    int64_t *left_of;      /* (right_count,) partner of each, or UNMATCHED */
    int64_t *right_of;     /* (left_count,) */
    int64_t *seen_by;      /* (left_count,) last right object whose search reached it, or EXHAUSTED */
    int64_t *reached_from; /* (left_count,) right object from which it was reached */
    int64_t *queue;        /* (right_count,) right objects of a search */
} Matching;

static Matching empty_matching(const int64_t *left, const int64_t *right, int64_t pair_count,
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
        matching.left_of[row] = UNMATCHED;
    for (int64_t row = 0; row < left_count; row++)
        matching.right_of[row] = matching.seen_by[row] = UNMATCHED;
    /* Starts are shifted by one while partners are filled in. */
    for (int64_t pair = 0; pair < pair_count; pair++)
        matching.starts[right[pair] + 2]++;
    for (int64_t row = 2; row < right_count + 2; row++)
        matching.starts[row] += matching.starts[row - 1];
    for (int64_t pair = 0; pair < pair_count; pair++)
        matching.partners[matching.starts[right[pair] + 1]++] = left[pair];
    return matching;
}

/* Augment along the path that ends in an unmatched left object. */
static void augment(Matching *matching, int64_t free)
{
    while (free != UNMATCHED) {
        const int64_t right = matching->reached_from[free];
        const int64_t before = matching->left_of[right];
        matching->right_of[free] = right;
        matching->left_of[right] = free;
        free = before;
    }
}

/* Match one more right object if there is an augmenting path; returns whether there is.

   A failed search has reached left objects from which no unmatched one is reachable; no later path
   can go through them either. */
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
            if (matching->right_of[left] == UNMATCHED) {
                augment(matching, left);
                return 1;
            }
            matching->queue[queued++] = matching->right_of[left];
        }
    }
    for (int64_t index = 1; index < queued; index++)
        matching->seen_by[matching->left_of[matching->queue[index]]] = EXHAUSTED;
    return 0;
}

/* Mark the right objects whose insertion, in the given order, augments the maximum matching.

   A pair joins left[pair] and right[pair], numbers below left_count and right_count. Takes
   (pair_count + 3 * left_count + 3 * right_count + 2,) scratch. Returns the number of marked
   objects. */
int64_t incremental_matching(const int64_t *left, const int64_t *right, int64_t pair_count,
                             const int64_t *order, int64_t left_count, int64_t right_count,
                             int64_t *scratch, uint8_t *gains)
{
    Matching matching
        = empty_matching(left, right, pair_count, left_count, right_count, scratch);
    int64_t size = 0;
    for (int64_t place = 0; place < right_count; place++) {
        gains[order[place]] = (uint8_t)insert(&matching, order[place]);
        size += gains[order[place]];
    }
    return size;
}

enum { OPEN, CHOSEN, OUT };

/* The nodes of one side that have pairs, numbered by first appearance. */
typedef struct {
    int64_t *of_pairs; /* number of each pair's node */
    double *heaviest;  /* weight of the heaviest open pair of each; infinite if the node is taken */
    double *second;    /* of the next one, which may be as heavy; 0 if there is none */
    int64_t count;
} Side;

/* Number the nodes of some pairs; false if one is not below `node_count`.

   `numbers` may hold anything: a number in it is valid only if it was given to this node. */
static int number_nodes(Side *side, const int64_t *nodes, int64_t pair_count, int64_t node_count,
                        int64_t *numbers, int64_t *named)
{
    side->count = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        const int64_t node = nodes[pair];
        if (node < 0 || node >= node_count)
            return 0;
        int64_t given = numbers[node];
        if (given < 0 || given >= side->count || named[given] != node) {
            given = side->count++;
            numbers[node] = given;
            named[given] = node;
            side->heaviest[given] = 0.0;
        }
        side->of_pairs[pair] = given;
    }
    return 1;
}

/* Find the two heaviest open pairs of each node, without unpredictable branches. */
static void weigh(Side *side, const double *weights, const int64_t *open, int64_t open_count)
{
    for (int64_t node = 0; node < side->count; node++) {
        side->heaviest[node] = side->heaviest[node] == INFINITE ? INFINITE : 0.0;
        side->second[node] = 0.0;
    }
    for (int64_t place = 0; place < open_count; place++) {
        const double weight = weights[open[place]];
        const int64_t node = side->of_pairs[open[place]];
        const double before = side->heaviest[node], second = side->second[node];
        const double lighter = weight < before ? weight : before;
        side->heaviest[node] = weight < before ? before : weight;
        side->second[node] = lighter < second ? second : lighter;
    }
}

/* The heaviest other pair of a pair's node. */
static double against(const Side *side, int64_t pair, double weight)
{
    const int64_t node = side->of_pairs[pair];
    return weight == side->heaviest[node] ? side->second[node] : side->heaviest[node];
}

static int is_taken(const Side *side, int64_t pair)
{
    return side->heaviest[side->of_pairs[pair]] == INFINITE;
}

/* Choose the locally dominant pairs: those heavier than the heaviest other pairs of both nodes
   together. Returns their number.

   Two such pairs never share a node, and no pair that shares a node with one of them is dominant,
   so nodes are marked as taken at once. */
static int64_t choose(Side *sides, const double *weights, const int64_t *open, int64_t open_count,
                      uint8_t *states)
{
    int64_t chosen = 0;
    for (int64_t place = 0; place < open_count; place++) {
        const int64_t pair = open[place];
        const double weight = weights[pair];
        if (!(weight > against(&sides[0], pair, weight) + against(&sides[1], pair, weight)))
            continue;
        states[pair] = CHOSEN;
        for (int side = 0; side < 2; side++)
            sides[side].heaviest[sides[side].of_pairs[pair]] = INFINITE;
        chosen++;
    }
    return chosen;
}

/* Choose locally dominant pairs until there are none: a reduction for maximum-weight matching.

   Pair p joins left[p], below left_count, with right[p], and has a finite weight; if that is not
   above 0, the pair is out. Scratch: (left_count + right_count,) `numbers` and (5 * pair_count,)
   `places`, which may hold anything, and (4 * pair_count,) `heavy`. Writes whether each pair is
   open (0), chosen (1) or out (2), and returns the number of open ones, or -1 if there is no such
   node. */
int64_t dominant_edges(const int64_t *left, const int64_t *right, const double *weights,
                       int64_t pair_count, int64_t left_count, int64_t right_count,
                       int64_t *numbers, int64_t *places, double *heavy, uint8_t *states)
{
    Side sides[2];
    for (int side = 0; side < 2; side++) {
        sides[side].of_pairs = places + side * pair_count;
        sides[side].heaviest = heavy + 2 * side * pair_count;
        sides[side].second = heavy + (2 * side + 1) * pair_count;
    }
    int64_t *named = places + 2 * pair_count;
    if (!number_nodes(&sides[0], left, pair_count, left_count, numbers, named)
        || !number_nodes(&sides[1], right, pair_count, right_count, numbers + left_count,
                   named + pair_count))
        return -1;
    int64_t *open = places + 4 * pair_count;
    int64_t open_count = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        states[pair] = weights[pair] > 0.0 ? OPEN : OUT;
        open[open_count] = pair;
        open_count += states[pair] == OPEN;
    }
    do {
        weigh(&sides[0], weights, open, open_count);
        weigh(&sides[1], weights, open, open_count);
        if (choose(sides, weights, open, open_count, states) == 0)
            break;
        int64_t left_open = 0;
        for (int64_t place = 0; place < open_count; place++) {
            const int64_t pair = open[place];
            if (is_taken(&sides[0], pair) || is_taken(&sides[1], pair))
                states[pair] = states[pair] == CHOSEN ? CHOSEN : OUT;
            else
                open[left_open++] = pair;
        }
        open_count = left_open;
    } while (open_count);
    return open_count;
}
