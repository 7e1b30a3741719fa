import type { AppCode } from "../../../domain/ports/bundler.ts";

/** The upload form of a bundle that is a Worker. */
export function scriptPathOf({ code }: { code: AppCode }): string {
  if (code.runtime !== "worker") throw new Error("The bundle is a Node server");
  return code.scriptPath;
}
