/**
 * Runs one command with the packed client and prints the result as JSON; its options and output
 * follow the contract of the runners of all languages.
 *
 *     runner COMMAND --option value ...
 */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { connect, VERSION, VidscoreError } from "@vidscore/client";

const OPTIONS = Object.fromEntries(
  [
    ["address", "token", "ca", "certificate", "key", "server-name", "timeout-s"],
    ["frames", "batch-frames", "live-every-frames", "deadline-s", "cancel-after-frames"],
    ["benchmark", "submission", "stream", "batch-interval-s", "window-frames", "queue-frames"],
    ["policy", "block-timeout-s", "acknowledge-timeout-s", "retry-initial-s", "retry-maximum-s"],
    ["give-up-after-s", "rate-hz", "die-after-acknowledged", "wait-s", "close-timeout-s"],
    ["keepalive-interval-s", "keepalive-timeout-s", "linger-s", "title"],
  ]
    .flat()
    .map((name) => [name, { type: "string" }])
    .concat(
      ["replay", "unary", "no-seal", "close", "until-ended"].map((name) => [
        name,
        { type: "boolean" },
      ]),
    ),
);

const COMMANDS = {
  version: async () => ({ language: "typescript", client_version: VERSION }),
  evaluators: async (client) => ({
    evaluators: (await client.evaluators()).map(({ name, version, title, measures }) => ({
      name,
      version,
      title,
      measures: measures.map((measure) => measure.name),
    })),
  }),
  health: async (client) => ({ status: (await client.health()).toUpperCase() }),
  score,
  submit,
  watch: async (client, given) => {
    const updates = [];
    for await (const { submission } of client.submissions.watch(given.submission)) {
      const { state, frameCount, revision } = submission;
      updates.push({ state, frame_count: frameCount, revision });
      if (!given["until-ended"]) {
        break;
      }
    }
    return { updates, state: updates.at(-1)?.state ?? null };
  },
  get: async (client, given) => shown(await client.submissions.get(given.submission)),
  cancel: async (client, given) => shown(await client.submissions.cancel(given.submission)),
  leaderboard: async (client, given) => {
    const { rows, ranking } = await client.leaderboard(given.benchmark);
    return {
      ranking,
      rows: rows.map(({ rank, team, submission, scores }) => ({
        rank,
        team,
        submission,
        values: scores,
      })),
    };
  },
};

async function score(client, given) {
  const { configuration, truth, detections } = readFrames(given.frames);
  const { evaluators, specification, truth_geometry, detection_geometry } = configuration;
  const live = [];
  const stream = await client.scoreStream(evaluators, {
    specification: readSpecification(specification),
    truthGeometry: truth_geometry,
    detectionGeometry: detection_geometry,
    batching: batching(given),
    ...(given["deadline-s"] && { timeoutMs: 1000 * Number(given["deadline-s"]) }),
    ...(given["live-every-frames"] && {
      live: {
        everyFrames: Number(given["live-every-frames"]),
        onReport: ({ coverage }) =>
          live.push({
            paired_frames: coverage.pairedFrames,
            frames_waiting_for_detections: coverage.framesWaitingForDetections,
            frames_waiting_for_truth: coverage.framesWaitingForTruth,
          }),
      },
    }),
  });
  const limit = Number(given["cancel-after-frames"] ?? Number.POSITIVE_INFINITY);
  let sent = 0;
  for (const [side, frame] of [
    ...truth.map((frame) => ["sendTruth", frame]),
    ...detections.map((frame) => ["send", frame]),
  ]) {
    if (sent++ >= limit) {
      stream.cancel();
      return { cancelled: true };
    }
    await stream[side](readFrame(frame));
  }
  if (sent >= limit) {
    stream.cancel();
    return { cancelled: true };
  }
  return { reports: (await stream.finish()).map(writeReport), live };
}

async function submit(client, given) {
  const acknowledged = [];
  const stream = await client.submit(given.benchmark, given.submission, {
    stream: given.stream ?? "default",
    title: given.title ?? "",
    replay: given.replay ?? false,
    batching: batching(given),
    delivery: delivery(given, (frames) => {
      acknowledged.push(frames);
      if (frames >= Number(given["die-after-acknowledged"] ?? Number.POSITIVE_INFINITY)) {
        process.kill(process.pid, "SIGKILL");
      }
    }),
  });
  const opened_offset = stream.nextOffset;
  const { detections } = readFrames(given.frames);
  for (const frame of detections) {
    await stream.send(readFrame(frame));
    if (given["rate-hz"]) {
      await new Promise((resolve) => setTimeout(resolve, 1000 / Number(given["rate-hz"])));
    }
  }
  if (given.close) {
    await stream.close();
    return { undelivered_frames: stream.undeliveredFrames };
  }
  await stream.flush();
  let submission;
  let scores = [];
  if (given["no-seal"]) {
    submission = await client.submissions.get(stream.submission);
  } else {
    await stream.seal(detections.length);
    submission = await stream.wait({ timeoutMs: 1000 * Number(given["wait-s"] ?? 60) });
    scores = await stream.scores();
  }
  return {
    submission: stream.submission,
    opened_offset,
    acknowledged,
    acknowledged_frames: stream.acknowledgedFrames,
    state: submission.state,
    state_reason: submission.stateReason,
    frame_count: submission.frameCount,
    scores: scores.map(({ partial, current, report }) => ({
      partial,
      current,
      report: writeReport(report),
    })),
  };
}

function batching(given) {
  return present({
    batchFrames: number(given["batch-frames"]),
    batchIntervalMs: milliseconds(given["batch-interval-s"]),
    queueFrames: number(given["queue-frames"]),
    policy: given.policy,
    blockTimeoutMs: milliseconds(given["block-timeout-s"]),
  });
}

function delivery(given, onAcknowledged) {
  return present({
    windowFrames: number(given["window-frames"]),
    acknowledgeTimeoutMs: milliseconds(given["acknowledge-timeout-s"]),
    closeTimeoutMs: milliseconds(given["close-timeout-s"]),
    unary: given.unary,
    onAcknowledged,
    retry: present({
      initialMs: milliseconds(given["retry-initial-s"]),
      maximumMs: milliseconds(given["retry-maximum-s"]),
      giveUpAfterMs: milliseconds(given["give-up-after-s"]),
    }),
  });
}

function readFrames(path) {
  const {
    configuration = {},
    truth = [],
    detections = [],
  } = JSON.parse(readFileSync(path, "utf8"));
  return { configuration, truth, detections };
}

function readSpecification({ title, domains = [], sequences = [] } = {}) {
  const range = ({ first = 0, last = 0 }) => [Number(first), Number(last)];
  return present({
    title,
    domains: domains.map(({ name = "", classes }) =>
      present({ name, classes: classes && (classes.names ?? []) }),
    ),
    sequences: sequences.map((entry) =>
      present({
        name: entry.name ?? "",
        domain: entry.domain,
        frameCount: number(entry.frameCount),
        firstFrame: number(entry.firstFrame),
        frames: entry.frames && (entry.frames.ranges ?? []).map(range),
        dontCareFrames: entry.dontCareFrames?.map(range),
        imageWidth: entry.imageWidth,
        imageHeight: entry.imageHeight,
      }),
    ),
  });
}

function readMask({ mask: { size, runs, text } }) {
  return { height: size[0], width: size[1], counts: runs ?? text };
}

function readFrame({ domain = "", sequence, frame, dont_care = false, time_s, objects = [] }) {
  return {
    domain,
    sequence,
    frame,
    dontCare: dont_care,
    timeS: time_s,
    coordinates: objects.map(({ coordinates }) => coordinates),
    labels: objects.map(({ label = "" }) => label),
    confidences: objects.map(({ confidence = 1 }) => confidence),
    trackIds: objects.map(({ track_id = -1 }) => track_id),
    flags: objects.map(({ flags = 0 }) => flags),
    masks: objects.some(({ mask }) => mask) ? objects.map(readMask) : undefined,
  };
}

function writeReport(report) {
  return {
    evaluator: report.evaluator,
    version: report.version,
    parameters: report.parameters,
    truth_digest: report.truthDigest,
    detections_digest: report.detectionsDigest,
    scores: report.rows.map((row) => ({ ...row })),
    curves: report.curves.map(({ name, domain, label, columns }) => ({
      name,
      domain,
      label,
      columns: [...columns].map(([column, values]) => ({ name: column, values })),
    })),
    warnings: report.warnings,
  };
}

function shown(submission) {
  const { name, team, title, state, stateReason, frameCount, streams, warnings } = submission;
  return {
    submission: {
      name,
      team,
      title,
      state,
      state_reason: stateReason,
      frame_count: frameCount,
      streams: streams.map(({ stream, epoch, nextOffset }) => ({
        stream,
        epoch,
        next_offset: nextOffset,
      })),
      warnings,
    },
  };
}

function writeError(error) {
  const kind = error.name
    .replace(/Error$/, "")
    .replace(/(?!^)([A-Z])/g, "_$1")
    .toLowerCase();
  return {
    error: {
      kind,
      code: error.code,
      reason: error.reason,
      message: error.summary,
      retryable: error.retryable,
      violations: error.violations,
      violation_count: error.violationCount,
      metadata: error.metadata,
    },
  };
}

function connected(given) {
  const tls =
    given.ca &&
    present({
      rootCertificates: given.ca,
      certificate: given.certificate,
      privateKey: given.key,
      serverName: given["server-name"],
    });
  const timeoutMs = milliseconds(given["timeout-s"]);
  const keepalive = present({
    intervalMs: milliseconds(given["keepalive-interval-s"]),
    timeoutMs: milliseconds(given["keepalive-timeout-s"]),
  });
  return connect(given.address, present({ tls, token: given.token, timeoutMs, keepalive }));
}

function present(entries) {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

function number(text) {
  return text === undefined ? undefined : Number(text);
}

function milliseconds(seconds) {
  return seconds === undefined ? undefined : 1000 * Number(seconds);
}

function readCommandLine() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    const command = COMMANDS[positionals[0]];
    if (command === undefined || positionals.length !== 1) {
      throw new TypeError(`a command is one of ${Object.keys(COMMANDS).join(", ")}`);
    }
    return { command, given: values };
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

const { command, given } = readCommandLine();
try {
  const client = command === COMMANDS.version ? null : connected(given);
  try {
    const result = JSON.stringify(await command(client, given));
    await client?.close();
    await new Promise((resolve) => setTimeout(resolve, milliseconds(given["linger-s"] ?? 0)));
    console.log(result);
  } finally {
    client?.abort();
  }
} catch (error) {
  if (!(error instanceof VidscoreError)) {
    throw error;
  }
  console.log(JSON.stringify(writeError(error)));
  process.exitCode = 3;
}
