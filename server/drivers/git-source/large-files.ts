import type { LargeFileProblem, OmittedFiles } from "./describe-omissions.ts";
import type { GitRemote } from "./resolve-remote.ts";
import { type CheckoutRun, runProgram } from "./run-git.ts";
import type { UsedSpace } from "./submodules.ts";

/** The port of HTTPS. Hosts of Git LFS often keep the files on another host, such as an object store. */
const HTTPS_PORT = 443;

interface LargeFilesReport {
  /** The pointers that were not replaced, by the reason. */
  omitted: Readonly<Partial<Record<LargeFileProblem, OmittedFiles>>>;
}

/**
 * Replaces the pointers of Git LFS that the checkout has recorded by the files that the git host names. Only the git host gets
 * the credentials of the base URL. The files are read from there and from public addresses with HTTPS, and have the size and
 * the hash of their pointers.
 *
 * @param host - the `host:port` of the git host
 * @param deadline - in milliseconds since the epoch
 */
export async function replaceLargeFiles(
  run: CheckoutRun,
  { host, origin, authorization }: Pick<GitRemote, "authorization"> & { host: string; origin: string },
  { used, deadline }: { used: UsedSpace; deadline: number },
): Promise<LargeFilesReport["omitted"]> {
  const options = { origin, limits: run.limits, used, timeMs: Math.max(0, deadline - Date.now()) };
  const { omitted } = await runProgram<LargeFilesReport>(run, {
    file: "large-files.mjs",
    // git trusts the certificate authorities of the machine too.
    nodeOptions: ["--use-system-ca"],
    args: [JSON.stringify(options)],
    env: {
      // Node.js uses the proxy of the sandbox only with this variable.
      NODE_USE_ENV_PROXY: "1",
      ...(authorization === null ? {} : { LFS_AUTHORIZATION: authorization }),
    },
    mounts: [],
    egress: { allow: [host], publicPort: HTTPS_PORT },
  });
  return omitted;
}
