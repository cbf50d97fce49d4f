/** Descriptions of a server's evaluators. */

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
  /** Its meaning, in one sentence. */
  readonly description: string;
  /** Unit, such as `count`, `ratio`, `px` or `px^2`. */
  readonly unit: string;
  /** Lower bound; null if there is none. */
  readonly minimum: number | null;
  /** Upper bound; null if there is none. */
  readonly maximum: number | null;
  /** Which values are better; `none` if the measure alone says nothing about quality. */
  readonly direction: "higher" | "lower" | "none";
  /** How values over many frames are combined: `pooled`, `mean` or `median`. */
  readonly averaging: string;
}

/** The rules of one benchmark protocol or criterion, as a server has them. */
export interface EvaluatorDescription {
  /** Name by which it is chosen. */
  readonly name: string;
  /** Increases whenever a score may change. */
  readonly version: string;
  /** One line for lists. */
  readonly title: string;
  /** Task of the judged systems: `detection` or `tracking`. */
  readonly task: string;
  /** JSON Schema of its parameters. */
  readonly parametersSchema: object;
  /** All measures that a report may have. */
  readonly measures: readonly Measure[];
  /** Measures that order systems, first one first. */
  readonly ranking: readonly string[];
  /** Shapes that objects of the truth may have. */
  readonly truthGeometries: readonly Geometry[];
  /** Shapes that detections may have. */
  readonly detectionGeometries: readonly Geometry[];
  /** Whether it uses confidences. */
  readonly usesConfidences: boolean;
  /** Whether objects must have a track id. */
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
