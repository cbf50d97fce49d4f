/* Every function of the library. `kernels/__init__.py` declares them in Python and documents them.

   A function only computes: it calls nothing, allocates nothing and keeps nothing. Its caller is
   responsible for the types and lengths of arrays. */

#ifndef VIDSCORE_KERNELS_H
#define VIDSCORE_KERNELS_H

#include <stdint.h>

#define INFINITE __builtin_inf()

/* assignment.c */
int64_t assign_matrices(const double *costs, int64_t count, int64_t rows, int64_t columns,
                        double *numbers, int64_t *places, int64_t *chosen);
int64_t assign_blocks(const int64_t *starts, const int64_t *rows, const int64_t *columns,
                      const double *costs, const int64_t *heights, const int64_t *widths,
                      const double *others, int64_t count, double *cells, double *numbers,
                      int64_t *places, int64_t longest, uint8_t *assigned);

/* coco.c */
int64_t parse_coco(const uint8_t *text, int64_t size, int64_t known, int64_t required,
                   const double *defaults, int64_t room, int64_t *integers, double *numbers,
                   int64_t *part_lengths, int64_t *runs, uint8_t *characters, int64_t *unread,
                   int64_t *found);

/* few_points.c */
int64_t match_few_points(const double *left, const int64_t *left_starts, const double *right,
                         const int64_t *right_starts, int64_t group_count, const double *bounds,
                         int64_t *left_rows, int64_t *right_rows, double *squares, int64_t *counts);

/* geometry.c */
int64_t bounding_boxes(const double *corners, int64_t count, int64_t points, double *boxes);
int64_t sort_points(double *points, int64_t *rows, const int64_t *starts, int64_t group_count);
int64_t near_points(const double *left, const int64_t *left_starts, const double *right,
                    const int64_t *right_starts, const int64_t *groups, int64_t group_count,
                    const double *most, int64_t *place, int64_t capacity, int64_t *left_places,
                    int64_t *right_places, double *squares, int64_t *counts);
int64_t touching_pairs(const double *left, const int64_t *left_starts, const double *right,
                       const int64_t *right_starts, int64_t group_count, int64_t self_pairs,
                       int64_t *place, int64_t *scratch, int64_t capacity, int64_t *left_rows,
                       int64_t *right_rows);

/* keys.c */
int64_t sources_digest(void);
int64_t factorize_keys(const int64_t *keys, int64_t count, int64_t *places, int64_t *scratch,
                       int64_t *more_scratch, int64_t *codes, int64_t *different, int64_t *times);
int64_t previous_rows(const int64_t *keys, int64_t count, int64_t *last, int64_t *previous);
int64_t hash_rows(int64_t row_count, const uint64_t *first, int64_t first_count,
                  const int64_t *of_first, const uint64_t *second, int64_t second_count,
                  const int64_t *of_second, const uint8_t *kinds, const int64_t *addresses,
                  const int64_t *strides, const uint64_t *weights, int64_t column_count,
                  int64_t hash_count, uint64_t *hashes, uint64_t *totals);
int64_t hash_masks(const uint32_t *runs, const int64_t *starts, const int64_t *sizes, int64_t count,
                   uint64_t *hashes);

/* masks.c */
int64_t normal_runs(const int64_t *lengths, const int64_t *starts, const int64_t *pixels,
                    int64_t count, int64_t most, uint32_t *runs, int64_t *run_starts,
                    int64_t *totals, uint8_t *states);
int64_t read_mask_texts(const uint8_t *text, const int64_t *starts, const int64_t *pixels,
                        int64_t count, int64_t most, uint32_t *runs, int64_t *run_starts,
                        int64_t *totals, uint8_t *states);
int64_t write_mask_texts(const uint32_t *runs, const int64_t *starts, int64_t count, uint8_t *text,
                         int64_t *text_starts);
int64_t mask_areas(const uint32_t *runs, const int64_t *starts, int64_t count, double *areas);
int64_t mask_boxes(const uint32_t *runs, const int64_t *starts, const int64_t *sizes, int64_t count,
                   double *boxes);
int64_t shared_mask_areas(const uint32_t *runs, const int64_t *starts, const int64_t *rows,
                          const uint32_t *other_runs, const int64_t *other_starts,
                          const int64_t *other_rows, int64_t pair_count, double *areas);
int64_t span_keys(const uint32_t *runs, const int64_t *starts, const int64_t *groups, int64_t count,
                  int64_t *keys);
int64_t take_runs(const uint32_t *runs, const int64_t *starts, const int64_t *rows, int64_t count,
                  uint32_t *taken);
int64_t sort_keys(int64_t *keys, int64_t key_count);
int64_t runs_of_keys(const int64_t *keys, int64_t key_count, const int64_t *pixels,
                     int64_t group_count, int64_t toggled, uint32_t *runs, int64_t *run_starts);
int64_t outline_keys(const int64_t *corners, const int64_t *starts, const int64_t *sizes,
                     int64_t count, int64_t capacity, int64_t *keys);

/* matching.c */
int64_t component_labels(const int64_t *left, const int64_t *right, int64_t edge_count,
                         int64_t node_count, int64_t *roots);
int64_t preference_order(const int64_t *left, const double *weights, const uint8_t *second_choice,
                         const double *last, int64_t pair_count, int64_t *order);
int64_t match_greedy(const int64_t *detections, const int64_t *targets, const double *similarities,
                     int64_t pair_count, const double *at_least, const uint8_t *reusable,
                     int64_t target_count, uint8_t *taken, int64_t *chosen);
int64_t incremental_matching(const int64_t *left, const int64_t *right, int64_t pair_count,
                             const int64_t *order, int64_t left_count, int64_t right_count,
                             int64_t *scratch, uint8_t *gains);
int64_t dominant_edges(const int64_t *left, const int64_t *right, const double *weights,
                       int64_t pair_count, int64_t left_count, int64_t right_count,
                       int64_t *numbers, int64_t *places, double *heavy, uint8_t *states);

/* outlines.c */
int64_t rounded_corners(const double *points, const int64_t *starts, int64_t count, int64_t most,
                        int64_t *corners, int64_t *spans);

/* png.c */
int64_t unfilter_rows(uint8_t *rows, int64_t height, int64_t size, int64_t step);

/* polygons.c */
int64_t sides_cross(const double *corners, int64_t count, uint8_t *crossing);
int64_t quadrilateral_outlines(const double *corners, int64_t count, double *outlines);
int64_t outline_areas(const double *outlines, int64_t count, double *areas);
int64_t shared_areas(const double *first, const double *second, int64_t count, double *areas);

/* ranking.c */
int64_t accumulate_outcomes(const uint8_t *outcomes, const int64_t *detections,
                            const int64_t *order, const uint8_t *last, int64_t rank_count,
                            int64_t column_count, int64_t true_code, int64_t false_code,
                            int64_t *trues, int64_t *falses);
int64_t greatest_precisions(const int64_t *trues, const int64_t *falses, int64_t row_count,
                            int64_t column_count, double *precisions);
int64_t precisions_reached(const int64_t *trues, const double *precisions, int64_t row_count,
                           int64_t column_count, const int64_t *wanted, int64_t level_count,
                           double *found);

/* tables.c */
int64_t group_rows(const int64_t *codes, int64_t code_count, const double *numbers,
                   int64_t number_count, int64_t row_count, int64_t *scratch, int64_t *order,
                   int64_t *first);
int64_t add_exactly(const double *values, const int64_t *groups, int64_t count, int64_t *sums,
                    int64_t *of_groups, int64_t *shifts, int64_t *high, int64_t *low);

/* text.c */
int64_t count_bytes(const uint8_t *text, int64_t size, int64_t byte);
int64_t parse_rows(const uint8_t *text, const uint8_t *kinds, int64_t column_count,
                   int64_t row_count, int64_t longest_row, const double *of_empty,
                   int64_t integer_of_empty, double *numbers, int64_t *integers, int64_t *starts,
                   int64_t *ends, int64_t *unread);
int64_t factorize_strings(const uint8_t *text, const int64_t *starts, const int64_t *ends,
                          int64_t field_count, int64_t key, int64_t *slots, int64_t slot_count,
                          int64_t *codes, int64_t *first_fields);
int64_t parse_spotgeo(const uint8_t *text, int64_t size, int64_t *sequence_ids, int64_t *frames,
                      int64_t *counts, double *coordinates);

/* transport.c */
int64_t transport_units(const double *costs, int64_t supplies, int64_t demands, int64_t units,
                        int64_t capacity, double *numbers, int64_t *places, int64_t *flow);

#endif
