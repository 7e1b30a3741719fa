import { expect, test } from "vitest";
import { openTestPlatform } from "../support/edge/test-platform.ts";
import { edgePlatformContract } from "./edge-platform.ts";
import { edgePlatformVariablesContract } from "./edge-platform-variables.ts";
import { edgePlatformFeaturesContract } from "./edge-platform-features.ts";
import type { EdgePlatformHarness } from "./edge-platform-harness.ts";

edgePlatformContract("embedded", openEmbedded);
edgePlatformFeaturesContract("embedded", openEmbedded);
edgePlatformVariablesContract("embedded", openEmbedded);

async function openEmbedded(): Promise<EdgePlatformHarness> {
  const t = await openTestPlatform();
  const { scripts, databases } = t.platform;
  const { variables, request } = t;
  return { platform: scripts, databases, variables, request, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
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

test("rate limits, workflows, analytics events and version metadata work as on the production platform", async () => {
  await using t = await openTestPlatform();
  await t.publish("shop", EXTRAS, {
    bindings: [
      { type: "ratelimit", name: "LIMIT", namespace_id: "1", simple: { limit: 1, period: 60 } },
      { type: "workflow", name: "FLOW", workflow_name: "sum", class_name: "Sum" },
      { type: "analytics_engine", name: "EVENTS" },
      { type: "version_metadata", name: "VERSION" },
    ],
  });
  expect(JSON.parse((await t.request("shop")).text)).toEqual([[true, false], 3, "string"]);
});
