import { describe, expect, test } from "vitest";
import { type EdgePlatformHarness, openWithSources } from "./edge-platform-harness.ts";

/** The contract of the bindings that only platforms on our machines have as on the production platform. */
export function edgePlatformBindingsContract(driver: string, open: () => Promise<EdgePlatformHarness>): void {
  describe(`bindings on an edge platform (${driver})`, () => {
    test("rate limits, workflows, analytics events and version metadata work as on the production platform", async () => {
      await using h = await openWithSources(open);
      await h.publish(EXTRAS, {
        bindings: [
          { type: "ratelimit", name: "LIMIT", namespace_id: "1", simple: { limit: 1, period: 60 } },
          { type: "workflow", name: "FLOW", workflow_name: "sum", class_name: "Sum" },
          { type: "analytics_engine", name: "EVENTS" },
          { type: "version_metadata", name: "VERSION" },
        ],
      });
      expect(JSON.parse((await h.request("shop")).text)).toEqual([[true, false], 3, "string"]);
    });

    test("a part of a large object is read, and its parts can be uploaded one after the other", async () => {
      await using h = await openWithSources(open);
      await h.publish(PARTS, { bindings: [{ type: "r2_bucket", name: "R2", bucket_name: "files" }] });
      expect(JSON.parse((await h.request("shop")).text)).toEqual([5_242_883, "aabbb", "bb", "a"]);
    });

    test("large values of keys are kept", async () => {
      await using h = await openWithSources(open);
      await h.publish(LARGE_VALUE, { bindings: [{ type: "kv_namespace", name: "KV", namespace_id: "notes" }] });
      expect((await h.request("shop")).text).toBe("3000000");
    });
  });
}

const EXTRAS = `import { WorkflowEntrypoint } from "cloudflare:workers";
export class Sum extends WorkflowEntrypoint {
  run(event, step) {
    return step.do("add", async () => 1 + 2);
  }
}
export default { async fetch(request, { LIMIT, FLOW, EVENTS, VERSION }) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  EVENTS.writeDataPoint({ blobs: ["seen"] });
  const limited = [await LIMIT.limit({ key: "a" }), await LIMIT.limit({ key: "a" })].map(({ success }) => success);
  const run = await FLOW.create();
  let status = await run.status();
  for (; !["complete", "errored"].includes(status.status); status = await run.status()) await new Promise((r) => setTimeout(r, 20));
  return Response.json([limited, status.output, typeof VERSION.id]);
} }`;

const PARTS = `export default { async fetch(request, { R2 }) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  const upload = await R2.createMultipartUpload("large");
  const parts = [await upload.uploadPart(1, "a".repeat(5 * 1024 * 1024)), await upload.uploadPart(2, "bbb")];
  const { size } = await upload.complete(parts);
  const read = async (range) => (await R2.get("large", { range })).text();
  const ranges = [{ offset: size - 5 }, { suffix: 2 }, { offset: 10, length: 1 }];
  return Response.json([size, ...(await Promise.all(ranges.map(read)))]);
} }`;

const LARGE_VALUE = `export default { async fetch(request, { KV }) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  await KV.put("large", "x".repeat(3_000_000));
  return new Response(String((await KV.get("large")).length));
} }`;
