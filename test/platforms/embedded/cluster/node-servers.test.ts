import { expect, test } from "vitest";
import { openTestCluster } from "../../../support/edge/cluster-edge.ts";
import { publishServer } from "../../../support/edge/node-server.ts";

const SERVER = `require("node:http").createServer((request, response) => response.end("hello")).listen(process.env.PORT);`;

test("a Node server that does not use PostgreSQL is refused", async () => {
  await using cluster = await openTestCluster();
  const edge = await cluster.openEdge();
  const published = publishServer(edge, "shop", SERVER);
  await expect(published).rejects.toThrow("With several edges, a Node server must use PostgreSQL");
  expect((await edge.request("shop")).status).toBe(404);
});
