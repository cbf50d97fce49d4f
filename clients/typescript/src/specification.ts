/** A benchmark's specification, and evaluators with parameters, in readable form. */

import { create } from "@bufbuild/protobuf";
import { InputError } from "./errors.js";
import {
  type BenchmarkSpec,
  BenchmarkSpecSchema,
  type EvaluatorSpec,
  EvaluatorSpecSchema,
  type FrameRange,
  FrameRangeSchema,
  type Parameter,
  ParameterSchema,
  type SequenceSpec,
  SequenceSpecSchema,
} from "./gen/vidscore/v1/specification_pb.js";

/**
 * A value of a parameter, of the type that the evaluator declares. A whole `number` is sent as an
 * integer, which every evaluator also accepts for a number.
 */
export type ParameterValue =
  | boolean
  | number
  | bigint
  | string
  | readonly number[]
  | readonly string[];

/** An evaluator by name, or by name with the parameters that differ from its defaults. */
export type EvaluatorChoice =
  | string
  | { readonly name: string; readonly parameters?: Readonly<Record<string, ParameterValue>> };

/** A frame number, or the first and the last number of a range. */
export type FrameSpan = number | readonly [first: number, last: number];

/** Facts about one sequence. */
export interface SequenceSpecification {
  readonly name: string;
  /** Its domain; left out if there is only one. */
  readonly domain?: string;
  /** Number of its frames, which are numbered from `firstFrame` on. */
  readonly frameCount?: number;
  /** Number of its first frame. Default: 0. */
  readonly firstFrame?: number;
  /** Frames that are evaluated; left out: all of `frameCount`, or those that the truth lists. */
  readonly frames?: readonly FrameSpan[];
  /** Frames that are left out of all counts and averages. */
  readonly dontCareFrames?: readonly FrameSpan[];
  /** Width of the image in pixels. */
  readonly imageWidth?: number;
  /** Height of the image in pixels. */
  readonly imageHeight?: number;
}

/** Facts about one domain. */
export interface DomainSpecification {
  readonly name: string;
  /** Classes that are scored in it; left out: the evaluator's own list. */
  readonly classes?: readonly string[];
}

/** Facts that the data cannot give. */
export interface Specification {
  readonly title?: string;
  readonly evaluators?: readonly EvaluatorChoice[];
  readonly domains?: readonly DomainSpecification[];
  readonly sequences?: readonly SequenceSpecification[];
  /** Classes that are scored in domains without a list; left out: those of the evaluator. */
  readonly classes?: readonly string[];
}

/**
 * Join a specification and the chosen evaluators; if none are chosen, those of the specification
 * judge.
 *
 * @internal
 */
export function encodeSpecification(
  evaluators: readonly EvaluatorChoice[],
  specification: Specification = {},
): BenchmarkSpec {
  const chosen = evaluators.length > 0 ? evaluators : (specification.evaluators ?? []);
  if (chosen.length === 0) {
    throw new InputError("evaluators", "none", "at least one name");
  }
  return create(BenchmarkSpecSchema, {
    title: specification.title ?? "",
    evaluators: chosen.map(encodeEvaluator),
    domains: (specification.domains ?? []).map(({ name, classes }) => ({
      name,
      classes: classes && { names: [...classes] },
    })),
    sequences: (specification.sequences ?? []).map(encodeSequence),
    classes: specification.classes && { names: [...specification.classes] },
  });
}

/** @internal */
export function decodeSpecification(message: BenchmarkSpec | undefined): Specification {
  return {
    ...(message?.title && { title: message.title }),
    evaluators: (message?.evaluators ?? []).map(({ name, parameters }) => ({
      name,
      parameters: decodeParameters(parameters) as Record<string, ParameterValue>,
    })),
    domains: (message?.domains ?? []).map(({ name, classes }) => ({
      name,
      ...(classes && { classes: classes.names }),
    })),
    sequences: (message?.sequences ?? []).map(decodeSequence),
    ...(message?.classes && { classes: message.classes.names }),
  };
}

/** @internal */
export function decodeParameters(
  parameters: readonly Parameter[],
): Record<string, ParameterValue | null> {
  return Object.fromEntries(parameters.map(({ name, value }) => [name, decodeParameter(value)]));
}

function encodeEvaluator(choice: EvaluatorChoice): EvaluatorSpec {
  const { name, parameters = {} } = typeof choice === "string" ? { name: choice } : choice;
  return create(EvaluatorSpecSchema, {
    name,
    parameters: Object.entries(parameters).map(([key, value]) =>
      create(ParameterSchema, { name: key, value: encodeParameter(key, value) }),
    ),
  });
}

function encodeParameter(name: string, value: ParameterValue): Parameter["value"] {
  switch (typeof value) {
    case "boolean":
      return { case: "boolean", value };
    case "bigint":
      return { case: "integer", value };
    case "string":
      return { case: "text", value };
    case "number":
      return Number.isSafeInteger(value)
        ? { case: "integer", value: BigInt(value) }
        : { case: "number", value };
    default:
      return encodeSeveral(name, value);
  }
}

function encodeSeveral(name: string, values: readonly unknown[]): Parameter["value"] {
  if (Array.isArray(values) && values.every((value) => typeof value === "number")) {
    return create(ParameterSchema, { value: { case: "numbers", value: { values } } }).value;
  }
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
    return create(ParameterSchema, { value: { case: "texts", value: { values } } }).value;
  }
  throw new InputError(`parameters.${name}`, typeof values, "only numbers, or only strings");
}

function decodeParameter(value: Parameter["value"]): ParameterValue | null {
  switch (value.case) {
    case undefined:
      return null;
    case "integer":
      return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value;
    case "numbers":
    case "texts":
      return value.value.values;
    default:
      return value.value;
  }
}

function encodeSequence(sequence: SequenceSpecification): SequenceSpec {
  const { frames, dontCareFrames = [], frameCount, firstFrame = 0, ...rest } = sequence;
  return create(SequenceSpecSchema, {
    ...rest,
    firstFrame: BigInt(firstFrame),
    ...(frameCount !== undefined && { frameCount: BigInt(frameCount) }),
    ...(frames && { frames: { ranges: frames.map(encodeSpan) } }),
    dontCareFrames: dontCareFrames.map(encodeSpan),
  });
}

function decodeSequence(message: SequenceSpec): SequenceSpecification {
  return {
    name: message.name,
    ...(message.domain && { domain: message.domain }),
    ...(message.frameCount !== undefined && { frameCount: Number(message.frameCount) }),
    ...(message.firstFrame && { firstFrame: Number(message.firstFrame) }),
    ...(message.frames && { frames: message.frames.ranges.map(decodeSpan) }),
    ...(message.dontCareFrames.length > 0 && {
      dontCareFrames: message.dontCareFrames.map(decodeSpan),
    }),
    ...(message.imageWidth !== undefined && { imageWidth: message.imageWidth }),
    ...(message.imageHeight !== undefined && { imageHeight: message.imageHeight }),
  };
}

function encodeSpan(span: FrameSpan): FrameRange {
  const [first, last] = typeof span === "number" ? [span, span] : span;
  return create(FrameRangeSchema, { first: BigInt(first), last: BigInt(last) });
}

function decodeSpan(range: FrameRange): [number, number] {
  return [Number(range.first), Number(range.last)];
}
