import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);

/**
 * The workerd that has a cluster mode. It is newer than the one of Miniflare, which runs the apps of a single edge.
 *
 * @throws when the package is not installed for this platform
 */
export function clusterWorkerd(): string {
  return path.join(path.dirname(require.resolve(`workerd-cluster-linux-${process.arch}/package.json`)), "bin", "workerd");
}
