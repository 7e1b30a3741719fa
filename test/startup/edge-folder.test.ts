import { mkdir } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { checkEdgeFolder } from "../../server/composition/edge-folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const CLUSTER = { host: "127.0.0.1" };

test("an edge that has served alone is refused as one of several, and the other way round", async () => {
  await using folder = await temporaryFolder();
  const alone = { dataDirectory: path.join(folder.path, "alone"), edgeCluster: null };
  await mkdir(path.join(alone.dataDirectory, "edge", "scripts", "shop"), { recursive: true });
  await checkEdgeFolder(alone);
  await expect(checkEdgeFolder({ ...alone, edgeCluster: CLUSTER })).rejects.toThrow("EDGE_CLUSTER must be off");
  const joined = { dataDirectory: path.join(folder.path, "joined"), edgeCluster: CLUSTER };
  await checkEdgeFolder(joined);
  await mkdir(path.join(joined.dataDirectory, "edge", "scripts", "shop"), { recursive: true });
  await checkEdgeFolder(joined);
  await expect(checkEdgeFolder({ ...joined, edgeCluster: null })).rejects.toThrow("EDGE_CLUSTER must be on");
});
