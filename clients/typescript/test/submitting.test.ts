import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { type TestContext, test } from "node:test";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { checksum } from "../src/checksum.js";
import { Geometry } from "../src/gen/vidscore/v1/annotations_pb.js";
import { BenchmarkService } from "../src/gen/vidscore/v1/benchmark_service_pb.js";
import {
  type AppendRequest,
  SubmissionService,
  SubmissionState,
} from "../src/gen/vidscore/v1/submission_service_pb.js";
import {
  CallbackError,
  CallCancelledError,
  ClosedError,
  type ConnectOptions,
  connect,
  DeadlineError,
  InputError,
  NotFoundError,
  type SubmissionStream,
  SupersededError,
  UnavailableError,
} from "../src/index.js";
import { type Played, playing } from "./server.js";

const NAME = "benchmarks/streets/submissions/run";

/** A submission of one stream, in memory. */
class Stored {
  readonly frames: number[] = [];
  /** Events before the batches of these numbers are answered. */
  readonly faults = new Map<number, () => void>();
  epoch = 1n;
  state = SubmissionState.RECEIVING;
  silent = false;
  /** Called when a call comes that then gets no answer; undefined: calls are answered. */
  onHang: (() => void) | undefined;
  geometry = Geometry.BOX;
  /** Errors of the next watches. */
  readonly watchFaults: Code[] = [];
  /** Limits that are stated when a stream is opened. */
  limits: Record<string, bigint> = {};
  /** Frames of each received batch. */
  readonly sizes: number[] = [];
  #batches = 0;

  message() {
    const stream = { stream: "default", epoch: this.epoch, nextOffset: this.nextOffset };
    return { name: NAME, state: this.state, streams: [stream], revision: 1n };
  }

  get nextOffset(): bigint {
    return BigInt(this.frames.length);
  }

  /** An answer; if calls hang, only once the client has ended the call. */
  async answer<Answer>(call: HandlerContext, make: () => Answer): Promise<Answer> {
    if (this.onHang !== undefined) {
      this.onHang();
      await once(call.signal, "abort");
    }
    return make();
  }

  take(append: AppendRequest): bigint {
    assert.ok(append.detections);
    assert.equal(append.detectionsCrc32, checksum(append.detections), "the batch's CRC-32");
    assert.equal(append.offset, this.nextOffset, "the batch goes on where the last one ended");
    this.sizes.push(append.detections.frameNumbers.length);
    this.frames.push(...append.detections.frameNumbers.map(Number));
    this.faults.get(this.#batches++)?.();
    return this.nextOffset;
  }
}

async function storing(
  t: TestContext,
  options: ConnectOptions = {},
): Promise<Played & { stored: Stored }> {
  const stored = new Stored();
  const played = await playing(
    t,
    (router) => {
      router.service(BenchmarkService, {
        getBenchmark: ({ name }) => {
          if (name !== "benchmarks/streets") {
            throw new ConnectError("no such benchmark", Code.NotFound);
          }
          return { benchmark: { name, detectionGeometry: stored.geometry } };
        },
      });
      router.service(SubmissionService, {
        getSubmission: (_, call) => stored.answer(call, () => ({ submission: stored.message() })),
        openStream: () => ({ stream: stored.message().streams[0], limits: stored.limits }),
        appendBatch: (request, call) =>
          stored.answer(call, () => ({ nextOffset: stored.take(request) })),
        async *appendFrames(requests) {
          for await (const request of requests) {
            const nextOffset = stored.take(request);
            if (!stored.silent) {
              yield { nextOffset };
            }
          }
        },
        sealSubmission: () => {
          stored.state = SubmissionState.SCORED;
          return { submission: stored.message() };
        },
        async *watchSubmission() {
          const code = stored.watchFaults.shift();
          if (code !== undefined) {
            throw new ConnectError("broken", code);
          }
          yield { submission: stored.message(), scores: [] };
        },
      });
    },
    options,
  );
  return { ...played, stored };
}

function frameOf(frame: number) {
  return { sequence: "street", frame, coordinates: [[0, 0, 1, 1]] };
}

async function send(stream: { send(frame: object): Promise<void> }, count: number): Promise<void> {
  for (let frame = 0; frame < count; frame++) {
    await stream.send(frameOf(frame));
  }
}

const BATCHING = { batchFrames: 2 };
const RETRY = { initialMs: 1, maximumMs: 10 };
const ALL = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

test("no message is larger than the server takes", async (t) => {
  const { client, stored } = await storing(t);
  stored.limits = { maximum_batch_frames: 4n, maximum_message_bytes: 1n << 20n };
  const stream = await client.submit("streets", "run");
  await stream.sendBatch(ALL.map(frameOf));
  await stream.close();
  assert.deepEqual(stored.frames, ALL);
  assert.deepEqual(stored.sizes, [4, 4, 2]);
});

for (const unary of [false, true]) {
  test(`every frame is stored once, in order, over ${unary ? "calls" : "a stream"}`, async (t) => {
    const { client, stored } = await storing(t);
    const told: number[] = [];
    const delivery = { unary, onAcknowledged: (frames: number) => told.push(frames) };
    const stream = await client.submit("streets", "run", { batching: BATCHING, delivery });
    await send(stream, 10);
    assert.equal(await stream.flush(), 10);
    assert.deepEqual(stored.frames, ALL);
    assert.deepEqual(told, [2, 4, 6, 8, 10]);
    assert.equal((await stream.seal(10)).state, "scored");
    assert.equal((await stream.wait({ timeoutMs: 60_000 })).state, "scored");
    await assert.rejects(send(stream, 1), ClosedError);
  });

  test(`a cut ${unary ? "call" : "stream"} goes on, and no frame is lost or comes twice`, async (t) => {
    const { client, stored, cut } = await storing(t);
    stored.faults.set(1, cut).set(3, cut);
    const delivery = { unary, retry: RETRY };
    const stream = await client.submit("streets", "run", { batching: BATCHING, delivery });
    await send(stream, 10);
    await stream.close();
    assert.deepEqual(stored.frames, ALL);
  });
}

test("a program that was started again leaves out what is durable", async (t) => {
  const { client, stored } = await storing(t);
  stored.frames.push(0, 1, 2);
  const stream = await client.submit("streets", "run", { replay: true });
  assert.equal(stream.nextOffset, 3);
  await send(stream, 10);
  await stream.close();
  assert.deepEqual(stored.frames, ALL);
});

test("a connection over which no answer comes is given up, and the next one goes on", async (t) => {
  const { client, stored } = await storing(t);
  stored.silent = true;
  const delivery = { acknowledgeTimeoutMs: 50, retry: RETRY };
  const stream = await client.submit("streets", "run", { batching: BATCHING, delivery });
  await send(stream, 2);
  assert.equal(await stream.flush({ timeoutMs: 60_000 }), 2);
  assert.deepEqual(stored.frames, [0, 1]);
  stream.abort();
});

test("a younger writer ends the stream", async (t) => {
  const { client, stored, cut } = await storing(t);
  stored.faults.set(0, () => {
    stored.epoch += 1n;
    cut();
  });
  const delivery = { retry: RETRY };
  const stream = await client.submit("streets", "run", { batching: BATCHING, delivery });
  await send(stream, 2);
  await assert.rejects(stream.flush(), SupersededError);
});

test("a server that stays away is given up in the end, with what was wrong last", async (t) => {
  const { client, stored } = await storing(t);
  stored.silent = true;
  const delivery = { acknowledgeTimeoutMs: 20, retry: { ...RETRY, giveUpAfterMs: 0 } };
  const stream = await client.submit("streets", "run", { batching: BATCHING, delivery });
  stored.take = () => {
    throw new ConnectError("away", Code.Unavailable);
  };
  await send(stream, 2);
  await assert.rejects(stream.flush(), UnavailableError);
});

test("flush gives up waiting, and the stream goes on", async (t) => {
  const { client, stored } = await storing(t);
  stored.silent = true;
  const stream = await client.submit("streets", "run", {
    delivery: { acknowledgeTimeoutMs: 60_000 },
  });
  await send(stream, 1);
  await assert.rejects(stream.flush({ timeoutMs: 1 }), DeadlineError);
  stream.abort();
  await assert.rejects(send(stream, 1), ClosedError);
});

test("a callback that throws ends the stream, which then tells so", async (t) => {
  const { client } = await storing(t);
  const onAcknowledged = () => {
    throw new Error("mine");
  };
  const stream = await client.submit("streets", "run", {
    batching: BATCHING,
    delivery: { onAcknowledged },
  });
  await send(stream, 4);
  await assert.rejects(
    async () => {
      await stream.flush(); // the first batch is durable; its callback may not have been called
      await send(stream, 1);
    },
    (error) => error instanceof CallbackError && /mine/.test(String(error.cause)),
  );
});

test("a callback that waits for what it tells of is told so", async (t) => {
  const { client } = await storing(t);
  const stream = await client.submit("streets", "run", {
    batching: BATCHING,
    delivery: { onAcknowledged: () => stream.flush() },
  });
  await send(stream, 4);
  await assert.rejects(
    async () => {
      await stream.flush();
      await send(stream, 1);
    },
    (error) => error instanceof CallbackError && /would wait for themselves/.test(error.message),
  );
});

test("a benchmark that is not there, and names that are none, are told at once", async (t) => {
  const { client } = await storing(t);
  await assert.rejects(client.submit("nowhere", "run"), NotFoundError);
  for (const name of ["", "a/b/c", "benchmarks/"]) {
    await assert.rejects(client.submissions.get(name), InputError);
  }
  await assert.rejects(client.submit("streets", "a/b"), InputError);
});

test("a benchmark of which the shape of detections is not known yet takes none", async (t) => {
  const { client, stored } = await storing(t);
  stored.geometry = Geometry.UNSPECIFIED;
  const refused = client.submit("streets", "run");
  await assert.rejects(refused, { name: "ConflictError", reason: "BENCHMARK_NOT_OPEN" });
});

test("a watch that is left early leaves no timer behind", async (t) => {
  const { client } = await storing(t);
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  await client.submissions.get("streets/run");
  const before = timers();
  for await (const { submission } of client.submissions.watch("streets/run")) {
    assert.equal(submission.name, NAME);
    break;
  }
  assert.ok(timers() <= before);
});

test("a watch that was quiet for a while has the whole time again to go over a break", async (t) => {
  const { client, stored } = await storing(t);
  stored.state = SubmissionState.SCORED;
  stored.watchFaults.push(Code.Unavailable, Code.DeadlineExceeded, Code.Unavailable);
  const retry = { ...RETRY, giveUpAfterMs: 0 };
  assert.equal((await client.submissions.wait("streets/run", { retry })).state, "scored");
});

test("a wait between two tries ends with its signal, and with the client", async (t) => {
  const { client, stored } = await storing(t);
  const retry = { initialMs: 60_000, maximumMs: 60_000 };
  const break_ = () => stored.watchFaults.push(Code.Unavailable, Code.Unavailable);
  break_();
  const waiting = { retry, signal: AbortSignal.timeout(50) };
  await assert.rejects(client.submissions.wait("streets/run", waiting), CallCancelledError);
  break_();
  setTimeout(() => client.abort(), 50);
  await assert.rejects(client.submissions.wait("streets/run", { retry }), ClosedError);
});

test("a stream that could not be closed in its callback is closed with its client", async (t) => {
  const { client, stored } = await storing(t);
  let refused = 0;
  const stream: SubmissionStream = await client.submit("streets", "run", {
    delivery: { onAcknowledged: () => stream.close().catch(() => refused++) },
  });
  await send(stream, 1);
  await stream.flush();
  await stream.send(frameOf(1));
  await client.close();
  assert.ok(refused > 0);
  assert.deepEqual(stored.frames, [0, 1]);
  assert.equal(stream.undeliveredFrames, 0);
});

test("a time that is longer than timers run has no end", async (t) => {
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    const { client, stored } = await storing(t, { timeoutMs });
    await send(await client.submit("streets", "run"), 1);
    await client.close();
    assert.deepEqual(stored.frames, [0]);
  }
});

test("closing the client delivers what its streams have taken", async (t) => {
  const { client, stored } = await storing(t);
  const stream = await client.submit("streets", "run");
  await send(stream, 10);
  await client.close();
  assert.deepEqual(stored.frames, ALL);
  assert.equal(stream.undeliveredFrames, 0);
});

test("a client that is closed while a stream is waits for it", async (t) => {
  const { client, stored } = await storing(t);
  stored.silent = true;
  const delivery = { acknowledgeTimeoutMs: 100, retry: RETRY };
  const stream = await client.submit("streets", "run", { batching: BATCHING, delivery });
  await send(stream, 2);
  await Promise.all([stream.close(), client.close()]);
  assert.equal(stream.undeliveredFrames, 0);
});

test("closing in vain says how many frames are given up; aborting asks for nothing", async (t) => {
  const { client, stored } = await storing(t);
  stored.silent = true;
  const delivery = { closeTimeoutMs: 50 };
  const stream = await client.submit("streets", "run", { delivery });
  await send(stream, 7);
  await assert.rejects(stream.close(), { name: "DeadlineError", message: /^7 frames dropped: / });
  assert.equal(stream.undeliveredFrames, 7);
  await stream.close(); // the error was reported already
  await assert.rejects(stream.seal(7), DeadlineError);
  const left = await client.submit("streets", "run");
  await send(left, 7);
  left.abort();
  await left.close();
  assert.equal(left.undeliveredFrames, 7);
});

for (const unary of [false, true]) {
  const call = unary ? "a call of its own" : "the question where to resume";
  test(`closing ends ${call} that gets no answer`, async (t) => {
    const { client, stored } = await storing(t, { timeoutMs: 3_600_000 });
    stored.silent = true;
    const delivery = { acknowledgeTimeoutMs: 20, closeTimeoutMs: 50, retry: RETRY, unary };
    const stream = await client.submit("streets", "run", { batching: BATCHING, delivery });
    const hanging = new Promise<void>((resolve) => {
      stored.onHang = resolve;
    });
    await send(stream, 2);
    await hanging;
    await assert.rejects(stream.close(), { name: "DeadlineError", message: /^2 frames dropped: / });
  });
}

test("frames of a batch are queued all or none, and those that are durable are left out", async (t) => {
  const { client, stored } = await storing(t);
  const stream = await client.submit("streets", "run");
  await stream.sendBatch(ALL.slice(0, 4).map(frameOf));
  await stream.close();
  const again = await client.submit("streets", "run", { replay: true });
  await again.sendBatch(ALL.map(frameOf));
  await again.close();
  assert.deepEqual(stored.frames, ALL);
});

test("a wait ends with its signal, and a stream with the signal that it was opened with", async (t) => {
  const { client, stored } = await storing(t);
  stored.silent = true;
  const life = new AbortController();
  const stream = await client.submit("streets", "run", { signal: life.signal });
  await send(stream, 1);
  const waiting = stream.flush({ signal: AbortSignal.timeout(20) });
  await assert.rejects(waiting, CallCancelledError);
  life.abort();
  await assert.rejects(send(stream, 1), ClosedError);
  const given = { signal: AbortSignal.abort() };
  await assert.rejects(client.submissions.get("streets/run", given), CallCancelledError);
  await assert.rejects(client.submissions.wait("streets/run", given), CallCancelledError);
  await assert.rejects(
    client.submissions.seal("streets/run", 1, undefined, given),
    CallCancelledError,
  );
});

test("a stream that is closed leaves nothing behind at the signal that it was opened with", async (t) => {
  const { client } = await storing(t);
  const { signal } = new AbortController();
  await (await client.submit("streets", "run", { signal })).close();
  (await client.submit("streets", "run", { signal })).abort();
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("many calls at once make Node.js warn of nothing", async (t) => {
  const { client } = await storing(t);
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const { signal } = new AbortController();
  await Promise.all(ALL.concat(ALL).map(() => client.benchmark("streets", { signal })));
  await new Promise(setImmediate);
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("waiting ends when the time is up while no server is there", async (t) => {
  const client = connect("127.0.0.1:1");
  t.after(() => client.close());
  const retry = { initialMs: 30_000, maximumMs: 30_000 }; // half of it before the second try
  const begun = performance.now();
  const waiting = client.submissions.wait("streets/run", { timeoutMs: 200, retry });
  await assert.rejects(waiting, DeadlineError);
  assert.ok(performance.now() - begun < 5_000);
});
