import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { replaceFile } from "../files/durable-files.ts";
import { nullIfMissing } from "../files/missing-file.ts";

/**
 * Checks that the folder of an edge belongs to its mode: the apps of a single edge are in its folder, and those of several edges in the
 * object store. One must not be taken for the other.
 *
 * @throws {ConfigError}
 */
export async function checkEdgeFolder({
  dataDirectory,
  edgeCluster,
}: Pick<Config, "dataDirectory" | "edgeCluster">): Promise<void> {
  const folder = path.join(dataDirectory, "edge");
  const isCluster = edgeCluster !== null;
  const marker = path.join(folder, "cluster.json");
  const isMarked = (await readFile(marker).catch(nullIfMissing)) !== null;
  const apps = (await readdir(path.join(folder, "scripts")).catch(nullIfMissing)) ?? [];
  if (isMarked && !isCluster)
    throw new ConfigError(
      "EDGE_CLUSTER must be on: the apps of this edge are in the object store, with those of other edges.",
    );
  if (!isMarked && isCluster && apps.length > 0)
    throw new ConfigError(
      "EDGE_CLUSTER must be off: this edge has apps of its own, which other edges cannot serve. Set DATA_DIR to an empty folder, and deploy the apps there again (docs/operations.md, Several edges).",
    );
  if (!isCluster || isMarked) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(marker, "{}\n");
}
