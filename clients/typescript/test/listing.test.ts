import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { BenchmarkService } from "../src/gen/vidscore/v1/benchmark_service_pb.js";
import { SubmissionService } from "../src/gen/vidscore/v1/submission_service_pb.js";
import { NotFoundError } from "../src/index.js";
import { playing } from "./server.js";

const NAMES = ["a", "b", "c"].map((name) => `benchmarks/streets/submissions/${name}`);

test("a list of several pages comes as a whole, in its order", async (t) => {
  const { client } = await playing(t, (router) => {
    router.service(SubmissionService, {
      listSubmissions: ({ benchmark, pageToken }) => {
        assert.equal(benchmark, "benchmarks/streets");
        const page = Number(pageToken);
        const nextPageToken = page + 1 < NAMES.length ? `${page + 1}` : "";
        return { submissions: [{ name: NAMES[page] as string }], nextPageToken };
      },
    });
  });
  const found = await client.submissions.list("streets");
  assert.deepEqual(
    found.map((submission) => submission.name),
    NAMES,
  );
});

test("a board of several pages has all rows, and the ranking of every page", async (t) => {
  const asked: string[] = [];
  const { client } = await playing(t, (router) => {
    router.service(BenchmarkService, {
      getLeaderboard: ({ domain, pageToken }) => {
        asked.push(`${domain}/${pageToken}`);
        const rank = pageToken === "" ? 1 : 2;
        const nextPageToken = rank === 1 ? "more" : "";
        return { rows: [{ rank }], ranking: ["f1"], nextPageToken };
      },
    });
  });
  const { rows, ranking } = await client.leaderboard("streets", { domain: "night" });
  assert.deepEqual(
    rows.map(({ rank }) => rank),
    [1, 2],
  );
  assert.deepEqual(ranking, ["f1"]);
  assert.deepEqual(asked, ["night/", "night/more"]);
});

test("a list of which a page is refused fails as that page does", async (t) => {
  const { client } = await playing(t, (router) => {
    router.service(BenchmarkService, {
      listBenchmarks: ({ pageToken }) => {
        if (pageToken !== "") {
          throw new ConnectError("gone", Code.NotFound);
        }
        return { benchmarks: [], nextPageToken: "more" };
      },
    });
  });
  await assert.rejects(client.benchmarks(), NotFoundError);
});
