/** Reports: scores with everything needed to interpret them. */

import { InternalError } from "./errors.js";
import type {
  Curve as CurveMessage,
  Report as ReportMessage,
  Score as ScoreMessage,
  Value as ValueMessage,
} from "./gen/vidscore/v1/report_pb.js";
import type { LiveReport as LiveReportMessage } from "./gen/vidscore/v1/scoring_service_pb.js";
import type { Specification } from "./specification.js";
import { decodeParameters, decodeSpecification, type ParameterValue } from "./specification.js";

/** One score with its dimensions; null stands for all. */
export interface Row {
  readonly domain: string | null;
  readonly label: string | null;
  readonly sequence: string | null;
  readonly measure: string;
  /** The score; null if it is undefined. */
  readonly value: number | null;
  /** Kind of the value: an integer count, a number, or undefined. */
  readonly kind: "count" | "number" | "undefined";
}

/** Points in order, as columns of equal length by name. */
export interface Curve {
  readonly name: string;
  /** Its domain; null for all. */
  readonly domain: string | null;
  /** Its class; null for all. */
  readonly label: string | null;
  /** Coordinates of the points, by name. */
  readonly columns: ReadonlyMap<string, readonly (number | null)[]>;
}

/** A doubt for the reader of the scores: a stable code, a sentence, and how often it occurs. */
export interface ReportWarning {
  readonly code: string;
  readonly message: string;
  readonly count: number;
}

/** The dimensions of a score; left out: all together. */
export interface RowKey {
  readonly domain?: string | null;
  readonly label?: string | null;
  readonly sequence?: string | null;
}

/** Scores of one evaluator. */
export class Report {
  /** Name of the evaluator. */
  readonly evaluator: string;
  /** Its version. */
  readonly version: string;
  /** Name of the preset that the evaluator belongs to; null if none. */
  readonly preset: string | null;
  /** All parameters with the values that were used. */
  readonly parameters: Readonly<Record<string, ParameterValue | null>>;
  /** Fingerprint of the truth: 32 hexadecimal digits. */
  readonly truthDigest: string;
  /** Fingerprint of the detections. */
  readonly detectionsDigest: string;
  /** Versions of the server's software on which the last bits may depend. */
  readonly software: Readonly<Record<string, string>>;
  /** The specification under which it was scored. */
  readonly specification: Specification;
  /** All scores. */
  readonly rows: readonly Row[];
  /** All curves. */
  readonly curves: readonly Curve[];
  /** All warnings. */
  readonly warnings: readonly ReportWarning[];
  readonly #values: ReadonlyMap<string, number | null>;

  /** @internal Reports come from a server. */
  constructor(message: ReportMessage) {
    this.evaluator = message.evaluator;
    this.version = message.version;
    this.preset = message.preset ?? null;
    this.parameters = decodeParameters(message.parameters);
    this.truthDigest = message.truthDigest;
    this.detectionsDigest = message.detectionsDigest;
    this.software = { ...message.software };
    this.specification = decodeSpecification(message.specification);
    this.rows = message.scores.map(decodeRow);
    this.curves = message.curves.map(decodeCurve);
    this.warnings = message.warnings.map(({ code, message, count }) => ({
      code,
      message,
      count: Number(count),
    }));
    this.#values = new Map(this.rows.map((row) => [keyOf(row.measure, row), row.value]));
  }

  /**
   * One score; null if it is undefined.
   *
   * @throws RangeError if the report has no such row; the text names its measures.
   */
  value(measure: string, of: RowKey = {}): number | null {
    const value = this.#values.get(keyOf(measure, of));
    if (value === undefined) {
      const known = [...new Set(this.rows.map((row) => row.measure))].sort().join(", ");
      throw new RangeError(
        `no score ${measure} for ${JSON.stringify(of)}; measures of this report: ${known}`,
      );
    }
    return value;
  }

  /**
   * One curve.
   *
   * @throws RangeError if the report has no such curve.
   */
  curve(name: string, of: Omit<RowKey, "sequence"> = {}): Curve {
    const key = keyOf(name, of);
    const found = this.curves.find((curve) => keyOf(curve.name, curve) === key);
    if (found === undefined) {
      const known = [...new Set(this.curves.map((curve) => curve.name))].sort().join(", ");
      throw new RangeError(
        `no curve ${name} for ${JSON.stringify(of)}; curves: ${known || "none"}`,
      );
    }
    return found;
  }
}

/** How far both sides of a stream have come. */
export interface Coverage {
  /** Number of frames that both sides have sent. */
  readonly pairedFrames: number;
  /** Number of truth frames without received detections. */
  readonly framesWaitingForDetections: number;
  /** Number of detection frames without received truth. */
  readonly framesWaitingForTruth: number;
}

/** Scores over exactly the frames that both sides have sent. */
export interface LiveReport {
  /** A report for each evaluator, in the requested order. */
  readonly reports: readonly Report[];
  readonly coverage: Coverage;
}

/** @internal */
export function decodeLiveReport(message: LiveReportMessage): LiveReport {
  const coverage = message.coverage;
  if (coverage === undefined) {
    throw new InternalError("the server sent a live report without its coverage");
  }
  return {
    reports: message.reports.map((report) => new Report(report)),
    coverage: {
      pairedFrames: Number(coverage.pairedFrames),
      framesWaitingForDetections: Number(coverage.framesWaitingForDetections),
      framesWaitingForTruth: Number(coverage.framesWaitingForTruth),
    },
  };
}

function decodeRow(score: ScoreMessage): Row {
  return {
    domain: score.domain ?? null,
    label: score.label ?? null,
    sequence: score.sequence ?? null,
    measure: score.measure,
    value: decodeValue(score.value),
    kind: score.value?.kind.case ?? "undefined",
  };
}

function decodeCurve(curve: CurveMessage): Curve {
  return {
    name: curve.name,
    domain: curve.domain ?? null,
    label: curve.label ?? null,
    columns: new Map(curve.columns.map(({ name, values }) => [name, values.map(decodeValue)])),
  };
}

function decodeValue(value: ValueMessage | undefined): number | null {
  const kind = value?.kind;
  return kind === undefined || kind.case === undefined ? null : Number(kind.value);
}

function keyOf(name: string, of: RowKey): string {
  return JSON.stringify([name, of.domain ?? null, of.label ?? null, of.sequence ?? null]);
}
