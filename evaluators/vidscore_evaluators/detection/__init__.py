"""Detection criteria: `f1`, `average_precision`, `coco`, `log_average_miss_rate`, `errors`."""
