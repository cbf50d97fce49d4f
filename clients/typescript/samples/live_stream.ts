/**
 * A simulated detector at 30 Hz that sends its boxes to a hosted benchmark as they come.
 *
 *     VIDSCORE_TOKEN=... node build/samples/live_stream.js localhost:50051 streets my-run
 *
 * Stop the server and start it again: the stream continues. Stop this program and start it again
 * with the same name: it continues, too.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Frame, VidscoreError } from "@vidscore/client";
import { printScores } from "./table.js";

const FRAME_MS = 1000 / 30;
const TELL_MS = 1000;

async function main([address, benchmark, submission, frames = "300", ...rest]: string[]) {
  if (!address || !benchmark || !submission || rest.length > 0 || !/^\d+$/.test(frames)) {
    console.error("usage: VIDSCORE_TOKEN=... live_stream ADDRESS BENCHMARK SUBMISSION [FRAMES]");
    process.exit(2);
  }
  const client = connect(address, { token: process.env.VIDSCORE_TOKEN });
  try {
    const stream = await client.submit(benchmark, submission, {
      replay: true,
      delivery: {
        onAcknowledged: atMostEvery(TELL_MS, (n) => console.log(`${n} frames are durable`)),
      },
    });
    for (let number = 0; number < Number(frames); number++) {
      await stream.send(detect(number));
      await sleep(number < stream.nextOffset ? 0 : FRAME_MS);
    }
    await stream.seal(Number(frames));
    const { state } = await stream.wait();
    console.log(`the submission is ${state}`);
    printScores((await stream.scores()).map(({ report }) => report));
  } finally {
    await client.close();
  }
}

/** The output of a detector: a car that moves to the right. */
function detect(number: number): Frame {
  return {
    sequence: "street",
    frame: number,
    coordinates: [[10 + number, 20, 50 + number, 100]],
    labels: ["Car"],
    confidences: [0.9],
  };
}

function atMostEvery(intervalMs: number, tell: (count: number) => void): (count: number) => void {
  let nextMs = 0;
  return (count) => {
    if (performance.now() >= nextMs) {
      nextMs = performance.now() + intervalMs;
      tell(count);
    }
  };
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof VidscoreError ? error.message : `${error}`);
  process.exitCode = 1;
}
