package io.github.vidscore.client;

import java.util.List;

/**
 * One coordinate of every point of a curve.
 *
 * @param name name of the coordinate
 * @param values its value at each point
 */
public record Column(String name, List<Value> values) {}
