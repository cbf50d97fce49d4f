package io.github.vidscore.client;

import java.util.List;

/**
 * Points in order, as columns of equal length.
 *
 * @param name name of the curve
 * @param domain its domain; null for all
 * @param label label; null for all
 * @param columns coordinates of the points
 */
public record Curve(String name, String domain, String label, List<Column> columns) {}
