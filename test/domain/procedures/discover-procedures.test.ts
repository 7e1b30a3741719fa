import { expect, test } from "vitest";
import type { DiscoveryRequest, DiscoveryResult } from "../../../domain/ports/procedure-discovery.ts";
import { discoverProcedures, formatDiscovery } from "../../../domain/procedures/discover-procedures.ts";
import { discoveredProcedure } from "../../support/edge/live-app.ts";
import { liveProcedure } from "../../support/procedures/procedure-fixture.ts";

const FOUND: DiscoveryResult = { procedures: [discoveredProcedure("get")], problem: null };

async function discover(result: () => Promise<DiscoveryResult>, signal = new AbortController().signal) {
  const reported: unknown[] = [];
  const deps = { discovery: { discover: result }, reportInternalError: (error: unknown) => void reported.push(error) };
  return { found: await discoverProcedures(deps, { signal } as DiscoveryRequest), reported };
}

test("the procedures that are found are returned", async () => {
  expect(await discover(async () => FOUND)).toEqual({ found: FOUND, reported: [] });
});

test("an internal error is reported, and the app gets no procedures and a problem", async () => {
  const error = new Error("lost");
  const { found, reported } = await discover(() => Promise.reject(error));
  expect(found).toEqual({ procedures: [], problem: expect.stringContaining("internal error") });
  expect(reported).toEqual([error]);
});

test("an aborted search ends with the reason of its signal", async () => {
  const reason = new Error("canceled");
  await expect(discover(() => Promise.reject(new Error("lost")), AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("a build log has the number of procedures and their source", () => {
  const [openapi, trpc] = [discoveredProcedure("get"), liveProcedure("shop", "list")];
  const mcp = { ...openapi, invocation: { via: "mcp", path: "/mcp", tool: "get" } as never };
  const format = (procedures: DiscoveryResult["procedures"]) => formatDiscovery({ procedures, problem: null });
  expect(format([])).toBe("found no procedures");
  expect(format([openapi])).toBe("found 1 procedure (OpenAPI)");
  expect(format([trpc, trpc])).toBe("found 2 procedures (tRPC)");
  expect(format([mcp])).toBe("found 1 procedure (MCP)");
});
