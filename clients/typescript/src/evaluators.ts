/** What a server says about its evaluators. */

import { type Geometry, geometryOf } from "./frames.js";
import {
  Direction,
  type Evaluator as EvaluatorMessage,
  type Measure as MeasureMessage,
} from "./gen/vidscore/v1/evaluator_service_pb.js";

/** One score that an evaluator reports. */
export interface Measure {
  /** Name in reports. */
  readonly name: string;
  /** What it says, in one sentence. */
  readonly description: string;
  /** `count`, `ratio`, `px`, `px^2` and the like. */
  readonly unit: string;
  /** Least value; null where there is none. */
  readonly minimum: number | null;
  /** Greatest value; null where there is none. */
  readonly maximum: number | null;
  /** Which way is better; `none` where it says nothing about quality alone. */
  readonly direction: "higher" | "lower" | "none";
  /** How values over many frames come about: `pooled`, `mean` or `median`. */
  readonly averaging: string;
}

/** The rules of one benchmark protocol or criterion, as a server has them. */
export interface EvaluatorDescription {
  /** Name by which it is chosen. */
  readonly name: string;
  /** Goes up whenever a score may change. */
  readonly version: string;
  /** One line for lists. */
  readonly title: string;
  /** What the judged systems do: `detection` or `tracking`. */
  readonly task: string;
  /** JSON Schema of its parameters. */
  readonly parametersSchema: object;
  /** Every measure that may stand in a report. */
  readonly measures: readonly Measure[];
  /** Measures that decide the order of systems, first one first. */
  readonly ranking: readonly string[];
  /** Shapes that objects of the truth may have. */
  readonly truthGeometries: readonly Geometry[];
  /** Shapes that detections may have. */
  readonly detectionGeometries: readonly Geometry[];
  /** Whether confidences play a part. */
  readonly usesConfidences: boolean;
  /** Whether objects must carry a track id. */
  readonly needsTracks: boolean;
}

/** @internal */
export function decodeEvaluator(message: EvaluatorMessage): EvaluatorDescription {
  return {
    name: message.name.replace(/^evaluators\//, ""),
    version: message.version,
    title: message.title,
    task: message.task,
    parametersSchema: message.parametersSchema ?? {},
    measures: message.measures.map(decodeMeasure),
    ranking: message.ranking,
    truthGeometries: known(message.truthGeometries),
    detectionGeometries: known(message.detectionGeometries),
    usesConfidences: message.usesConfidences,
    needsTracks: message.needsTracks,
  };
}

function decodeMeasure(message: MeasureMessage): Measure {
  const { name, description, unit, averaging } = message;
  const lower = message.direction === Direction.LOWER ? "lower" : "none";
  return {
    name,
    description,
    unit,
    averaging,
    minimum: message.minimum ?? null,
    maximum: message.maximum ?? null,
    direction: message.direction === Direction.HIGHER ? "higher" : lower,
  };
}

function known(geometries: EvaluatorMessage["truthGeometries"]): Geometry[] {
  return geometries.map(geometryOf).filter((geometry) => geometry !== undefined);
}
