/* Connected components of a graph. */

#include <stdint.h>

/* A node that stands for a component; on the way each node is hung up nearer to it. */
static int64_t root_of(int64_t *roots, int64_t node)
{
    while (roots[node] != node) {
        roots[node] = roots[roots[node]];
        node = roots[node];
    }
    return node;
}

/* The least node of the component that each node is in.

   Edge e joins nodes left[e] and right[e]. Writes (node_count,) roots; returns how many
   components there are. */
int64_t least_nodes(const int64_t *left, const int64_t *right, int64_t edge_count,
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
    /* Every node hangs on one that is less, and so is done after it. */
    for (int64_t node = 0; node < node_count; node++)
        roots[node] = roots[roots[node]];
    return components;
}
