import type { LargeFileProblem, OmittedFiles } from "./describe-omissions.ts";
import { originInSandbox } from "./git-host.ts";
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
 * its credential. The files are read from there and from public addresses with HTTPS, and have the size and the hash of their
 * pointers.
 *
 * @param repos - the repositories with pointers, as owner/name
 * @param deadline - in milliseconds since the epoch
 */
export async function replaceLargeFiles(
  run: CheckoutRun,
  repos: readonly string[],
  { used, deadline }: { used: UsedSpace; deadline: number },
): Promise<LargeFilesReport["omitted"]> {
  const options = {
    origin: originInSandbox(run.host),
    limits: run.limits,
    used,
    timeMs: Math.max(0, deadline - Date.now()),
  };
  const { omitted } = await runProgram<LargeFilesReport>(run, {
    file: "large-files.mjs",
    // git trusts the certificate authorities of the machine too.
    nodeOptions: ["--use-system-ca"],
    args: [JSON.stringify(options)],
    // Node.js uses the proxy of the sandbox only with this variable.
    env: { NODE_USE_ENV_PROXY: "1" },
    mounts: [],
    repos,
    publicPort: HTTPS_PORT,
  });
  return omitted;
}
