import { createBuildRepository } from "../support/build-repository.ts";

/** How many shells one build runs, each in an endless loop. */
export const SHELLS = 400;

/** The loop of a shell, which also identifies it in a process list. */
const LOOP = "while :; do : busy-shell-of-benchmark; done";

export const LOOP_MARK = "busy-shell-of-benchmark";

/** Creates a repository whose build never ends and keeps every core busy. */
export function createBusyRepository(
  folder: string,
  signal: AbortSignal,
): Promise<{ gitBaseUrl: string; repo: string }> {
  const script = `for n in $(seq ${SHELLS}); do sh -c '${LOOP}' & done\nwait\n`;
  return createBuildRepository(folder, { name: "busy", script }, signal);
}
