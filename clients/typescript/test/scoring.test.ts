import assert from "node:assert/strict";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import {
  type ScoreRequest,
  type ScoreResponseSchema,
  ScoringService,
} from "../src/gen/vidscore/v1/scoring_service_pb.js";
import {
  BackPressureError,
  CallbackError,
  CallCancelledError,
  ClosedError,
  connect,
  DeadlineError,
  InputError,
  InternalError,
  InvalidArgumentError,
  LimitExceededError,
  type LiveReport,
  UnavailableError,
} from "../src/index.js";
import { playing } from "./server.js";

type Response = MessageInitShape<typeof ScoreResponseSchema>;

const STARTED: Response = {
  message: { case: "started", value: { serverVersion: "9", limits: { maximum_batch_frames: 2n } } },
};
const FINAL: Response = {
  message: {
    case: "final",
    value: {
      reports: [
        {
          evaluator: "f1",
          scores: [
            { measure: "f1", value: { kind: { case: "number", value: 0.1 } } },
            { measure: "misses", label: "Car", value: { kind: { case: "count", value: 3n } } },
            { measure: "mse", value: {} },
          ],
        },
      ],
    },
  },
};

function live(pairedFrames: bigint): Response {
  const coverage = { pairedFrames, framesWaitingForDetections: 0n, framesWaitingForTruth: 1n };
  return { message: { case: "live", value: { reports: [], coverage } } };
}

function scoring(score: (requests: AsyncIterable<ScoreRequest>) => AsyncIterable<Response>) {
  return (router: ConnectRouter) => router.service(ScoringService, { score });
}

/** Accepts everything, records it, and ends with a report. */
function taking(kept: ScoreRequest[]) {
  return scoring(async function* (requests) {
    yield STARTED;
    for await (const request of requests) {
      kept.push(request);
    }
    yield FINAL;
  });
}

const FRAME = { sequence: "street", frame: 0, coordinates: [[0, 0, 1, 1]] };

test("frames come in order and in batches as the server takes them, then the reports", async (t) => {
  const kept: ScoreRequest[] = [];
  const { client } = await playing(t, taking(kept));
  const evaluator = { name: "f1", parameters: { threshold: 0.5, k: 3 } };
  // A slow machine must not send a batch before it is full.
  const stream = await client.scoreStream([evaluator], { batching: { batchIntervalMs: 60_000 } });
  assert.equal(stream.serverVersion, "9");
  assert.deepEqual(stream.limits, { maximum_batch_frames: 2 });
  for (let frame = 0; frame < 5; frame++) {
    await stream.send({ ...FRAME, frame });
  }
  const [report] = await stream.finish();
  const [first, ...batches] = kept.map(({ message }) => message);
  assert.equal(first?.case, "configuration");
  const parameters = first?.case === "configuration" && first.value.specification?.evaluators[0];
  assert.deepEqual(
    parameters && parameters.parameters.map(({ name, value }) => [name, value.case, value.value]),
    [
      ["threshold", "number", 0.5],
      ["k", "integer", 3n],
    ],
  );
  const numbers = batches.map((batch) =>
    batch.case === "detections" ? batch.value.frameNumbers.map(Number) : [],
  );
  assert.deepEqual(numbers, [[0, 1], [2, 3], [4]]);
  assert.equal(report?.value("f1"), 0.1);
  assert.equal(report?.value("misses", { label: "Car" }), 3);
  assert.equal(report?.value("mse"), null);
  assert.deepEqual(
    report?.rows.map(({ kind }) => kind),
    ["number", "count", "undefined"],
  );
  assert.throws(() => report?.value("misses"), /measures of this report: f1, misses, mse/);
});

test("live reports go to the callback and to the reader, and the newest stays", async (t) => {
  const { client } = await playing(
    t,
    scoring(async function* (requests) {
      yield STARTED;
      yield live(1n);
      yield live(2n);
      for await (const _ of requests) {
        // until the client has finished
      }
      yield FINAL;
    }),
  );
  const told: LiveReport[] = [];
  const stream = await client.scoreStream(["f1"], {
    live: { everyFrames: 1, onReport: (report) => told.push(report) },
  });
  const read: number[] = [];
  for await (const { coverage } of stream.liveReports()) {
    read.push(coverage.pairedFrames);
    if (read.length === 2) {
      await stream.finish();
    }
  }
  assert.deepEqual(read, [1, 2]);
  assert.deepEqual(
    told.map(({ coverage }) => coverage.pairedFrames),
    [1, 2],
  );
  assert.equal(stream.latest?.coverage.pairedFrames, 2);
});

test("a refusal carries its reason and every violation", async (t) => {
  const information = { reason: "INVALID_SPEC", domain: "vidscore", metadata: { violations: "7" } };
  const violation = { field: "evaluators[0]", description: "found x, expected y" };
  const { client } = await playing(
    t,
    scoring(async function* () {
      throw new ConnectError("wrong", Code.InvalidArgument, undefined, [
        { desc: ErrorInfoSchema, value: information },
        { desc: BadRequestSchema, value: { fieldViolations: [violation] } },
      ]);
    }),
  );
  await assert.rejects(client.scoreStream(["f1"]), (error) => {
    assert.ok(error instanceof InvalidArgumentError);
    assert.deepEqual(
      [error.code, error.reason, error.violationCount],
      ["INVALID_ARGUMENT", "INVALID_SPEC", 7],
    );
    assert.deepEqual(error.violations, [violation]);
    assert.match(error.message, /and 6 more/);
    return true;
  });
});

test("a full queue refuses at once or after a while, as the policy says", async (t) => {
  const { client } = await playing(
    t,
    scoring(async function* () {
      yield STARTED;
      await new Promise(() => {}); // takes nothing
    }),
  );
  const settings = { queueFrames: 1, batchIntervalMs: 60_000 };
  for (const more of [{ policy: "raise" as const }, { blockTimeoutMs: 1 }]) {
    const stream = await client.scoreStream(["f1"], { batching: { ...settings, ...more } });
    await stream.send(FRAME);
    await assert.rejects(stream.send(FRAME), BackPressureError);
    stream.cancel();
  }
});

test("a stream that was cancelled, finished or cut off says so", async (t) => {
  const played = await playing(t, taking([]));
  const cancelled = await played.client.scoreStream(["f1"]);
  cancelled.cancel();
  await assert.rejects(cancelled.send(FRAME), CallCancelledError);
  const finished = await played.client.scoreStream(["f1"]);
  await finished.finish();
  await assert.rejects(finished.send(FRAME), ClosedError);
  const cut = await played.client.scoreStream(["f1"]);
  played.cut();
  await assert.rejects(cut.finish(), UnavailableError);
});

test("a caller's signal and a closed client end a stream", async (t) => {
  const { client } = await playing(t, taking([]));
  const aborter = new AbortController();
  const aborted = await client.scoreStream(["f1"], { signal: aborter.signal });
  const closed = await client.scoreStream(["f1"]);
  aborter.abort();
  await assert.rejects(aborted.finish(), CallCancelledError);
  await client.close();
  await assert.rejects(closed.finish(), ClosedError);
  await assert.rejects(client.evaluators(), ClosedError);
});

test("a stream ends at its deadline, and finish may be asked again", async (t) => {
  const { client } = await playing(
    t,
    scoring(async function* () {
      yield STARTED;
      await new Promise(() => {});
    }),
  );
  const slow = await client.scoreStream(["f1"], { timeoutMs: 200 });
  await assert.rejects(slow.finish({ timeoutMs: 1 }), /no final report within/);
  await assert.rejects(slow.finish(), DeadlineError);
});

test("an answer that breaks the rules of the wire is the server's failure", async (t) => {
  const { client } = await playing(
    t,
    scoring(async function* () {
      yield STARTED;
    }),
  );
  const stream = await client.scoreStream(["f1"]);
  await assert.rejects(stream.finish(), InternalError);
});

test("a callback that throws, or that waits for itself, ends the stream", async (t) => {
  const serve = scoring(async function* (requests) {
    yield STARTED;
    yield live(1n);
    for await (const _ of requests) {
      // until the client has finished
    }
    yield FINAL;
  });
  const { client } = await playing(t, serve);
  const broken = await client.scoreStream(["f1"], {
    live: {
      everyFrames: 1,
      onReport: () => {
        throw new Error("mine");
      },
    },
  });
  await assert.rejects(broken.finish(), (error) => {
    return error instanceof CallbackError && /mine/.test(String(error.cause));
  });
  const waiting = await client.scoreStream(["f1"], {
    live: { everyFrames: 1, onReport: () => waiting.finish() },
  });
  await assert.rejects(waiting.finish(), /would wait for itself/);
});

test("what is wrong on this side is told before anything is sent", async () => {
  const client = connect("127.0.0.1:1");
  const wrong = [
    client.scoreStream([]),
    client.scoreStream(["f1"], { live: {} }),
    client.scoreStream(["f1"], { live: { everyFrames: 1.5 } }),
    client.scoreStream(["f1"], { live: { everyMs: 1e300 } }),
    client.submissions.seal("a/b", 1.5),
    client.scoreStream(["f1"], { timeoutMs: 0 }),
    client.scoreStream(["f1"], { truthGeometry: "circle" as never }),
    client.scoreStream(["f1"], { batching: { batchFrames: 0 } }),
    client.scoreStream([{ name: "f1", parameters: { a: [1, "b"] as never } }]),
  ];
  for (const call of wrong) {
    await assert.rejects(call, InputError);
  }
  await client.close();
});

test("a token does not go unencrypted to another machine, and is in no message", () => {
  const token = "vidscore-secret";
  assert.throws(
    () => connect("db.example.org:50051", { token }),
    (error) => error instanceof InputError && !error.message.includes(token),
  );
  for (const target of ["localhost:1", "127.0.0.1:1", "[::1]:1", "unix:/run/vidscore"]) {
    connect(target, { token }).abort();
  }
  connect("db.example.org:1", { token, tls: true }).abort();
  connect("db.example.org:1", { token, allowPlaintextToken: true }).abort();
  for (const target of [
    "",
    "localhost",
    "a b:1",
    "http://a:1",
    "a:99999",
    "unix:",
    "256.0.0.1:1",
    "[1:2]:1",
    "::1:1",
  ]) {
    assert.throws(() => connect(target), InputError);
  }
});

test("an answer arrives before the end of a large message", async (t) => {
  const server = createServer();
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    const refusal = { "grpc-status": "8", "grpc-message": "too much" };
    stream.respond({ "content-type": "application/grpc", ...refusal }, { endStream: true });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(() => {
    client.abort();
    server.close();
  });
  const specification = { title: "x".repeat(12 << 20) };
  await assert.rejects(client.scoreStream(["f1"], { specification }), LimitExceededError);
});

test("a file that cannot be read is named", () => {
  const folder = tmpdir();
  assert.throws(
    () => connect("localhost:1", { tls: { rootCertificates: folder } }),
    (error) => error instanceof InputError && error.message.includes(folder),
  );
});
