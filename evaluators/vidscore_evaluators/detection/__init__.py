"""Detection criteria: `f1`, `average_precision` (map, coco), `log_average_miss_rate`, `errors`."""
