import { openTestCluster } from "../support/edge/cluster-edge.ts";
import { sqlDatabasesContract } from "./sql-databases.ts";

sqlDatabasesContract("cluster", async () => {
  await using opening = new AsyncDisposableStack();
  const cluster = opening.use(await openTestCluster());
  const { platform } = await cluster.openEdge();
  const resources = opening.move();
  return { databases: platform.databases, [Symbol.asyncDispose]: () => resources.disposeAsync() };
});
