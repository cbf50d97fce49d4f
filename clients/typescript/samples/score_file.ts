/**
 * Score a file of detections against a file of truth; the server keeps nothing.
 *
 *     node build/samples/score_file.js localhost:50051 f1 truth.csv detections.csv
 */

import { readFileSync } from "node:fs";
import {
  connect,
  type Geometry,
  ObjectFlag,
  type TruthFrame,
  VidscoreError,
} from "@vidscore/client";
import { printScores } from "./table.js";

const SHAPES: readonly [Geometry, readonly string[]][] = [
  ["quadrilateral", ["x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"]],
  ["box", ["x1", "y1", "x2", "y2"]],
  ["point", ["x", "y"]],
];

interface Contents {
  readonly geometry: Geometry;
  readonly frames: TruthFrame[];
}

async function main([address, evaluator, truthPath, detectionsPath, ...rest]: string[]) {
  if (!address || !evaluator || !truthPath || !detectionsPath || rest.length > 0) {
    console.error("usage: score_file ADDRESS EVALUATOR TRUTH.csv DETECTIONS.csv");
    process.exit(2);
  }
  const truth = readGenericCsv(truthPath);
  const detections = readGenericCsv(detectionsPath);
  const client = connect(address);
  try {
    const [report] = await client.score([evaluator], truth.frames, detections.frames, {
      truthGeometry: truth.geometry,
      detectionGeometry: detections.geometry,
    });
    printScores(report ? [report] : []);
  } finally {
    await client.close();
  }
}

/** Read a file of the generic CSV: columns by name, a row for each object. */
function readGenericCsv(path: string): Contents {
  const [header = [], ...lines] = parseCsv(readFileSync(path, "utf8"));
  const shape = SHAPES.find(([, columns]) => columns.every((name) => header.includes(name)));
  if (shape === undefined) {
    throw new Error(`${path}: no coordinates among the columns ${header.join(", ")}`);
  }
  const [geometry, coordinates] = shape;
  const frames = new Map<string, Record<string, string>[]>();
  for (const line of lines) {
    const row = Object.fromEntries(header.map((name, index) => [name, line[index] ?? ""]));
    const key = JSON.stringify([row.domain ?? "", row.sequence, row.frame]);
    frames.set(key, [...(frames.get(key) ?? []), row]);
  }
  return { geometry, frames: [...frames.values()].map((rows) => readFrame(rows, coordinates)) };
}

function readFrame(rows: Record<string, string>[], coordinates: readonly string[]): TruthFrame {
  const [{ domain = "", sequence = "", frame = "" } = {}] = rows;
  const objects = rows.filter((row) => row[coordinates[0] as string] !== "");
  const timed = rows.find((row) => row.time_s);
  return {
    ...(timed && { timeS: Number(timed.time_s) }),
    domain,
    sequence,
    frame: Number(frame),
    coordinates: objects.map((row) => coordinates.map((name) => Number(row[name]))),
    labels: objects.map((row) => row.class ?? ""),
    confidences: objects.map((row) => Number(row.confidence || 1)),
    trackIds: objects.map((row) => Number(row.track_id || -1)),
    flags: objects.map((row) => readFlags(row.flags)),
    dontCare: rows.some((row) => (row.flags ?? "").split("|").includes("dont_care_frame")),
  };
}

function readFlags(words = ""): number {
  const flags = Object.entries(ObjectFlag).filter(([name]) =>
    words.split("|").includes(name.toLowerCase()),
  );
  return flags.reduce((bits, [, bit]) => bits | bit, 0);
}

/** Rows of fields; a field in quotes may hold commas, line ends and doubled quotes (RFC 4180). */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = "", end = ""] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g,
  )) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") {
      rows.push(row);
      row = [];
    }
  }
  return rows.filter((fields) => fields.some((field) => field !== ""));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof VidscoreError ? error.message : `${error}`);
  process.exitCode = 1;
}
