import { createRequire } from "node:module";

/**
 * Returns the path of the workerd with cluster mode. Its version differs from that of the workerd that runs apps on one machine,
 * which has no cluster mode.
 *
 * @throws when npm has not installed it
 */
export function findClusterBinary(arch: string = process.arch): string {
  const name = `workerd-cluster-linux-${arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/workerd`);
  } catch (cause) {
    throw new Error(`The npm package ${name} is not installed. Run npm run setup.`, { cause });
  }
}
