import type { DeploymentProgress } from "../../sdk/src/client.ts";
import type { Output } from "./output.ts";

/** Shows the log and the statuses of a deployment while a command waits for it. */
export function showProgress(output: Output, progress: DeploymentProgress): void {
  if (progress.type === "line") output.message(progress.line);
  else if (progress.type === "status") output.progress(`${progress.status} …`);
}
