import { isInProgress } from "../apps/app-status.ts";
import { pollUntil } from "../shared/back-off.ts";
import type { Caller } from "../shared/caller.ts";
import { RESPONSE_CHARACTERS } from "../shared/response-budget.ts";
import { readDeploymentLog, type ReadLogDeps, readLogOfDeployment, selectLog } from "./read-deployment-log.ts";

/** The status of a deployment and the end of its log, short enough for the context of an agent. */
export interface DeploymentLogTail {
  status: string;
  status_message: string | null;
  error: string | null;
  /** `null` when object storage has no log. */
  log: string | null;
  omitted_characters: number;
}

export interface LogTailRequest {
  app_id: string;
  /** Of the deployment; the newest one without it. */
  number?: number | undefined;
  /** How long the call waits for the end of the deployment. */
  wait_seconds?: number | undefined;
}

/** In milliseconds. Agents wait for a minute or more. */
const WAIT_PAUSES = { first: 100, max: 1000 };

/** The characters of a response without its log, with long messages. */
const ENVELOPE_CHARACTERS = 4000;

/**
 * Reads the end of the log of an app's newest deployment, or of the one with the number. Waits for its end as long as the
 * request allows.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app, or the app has no such deployment
 */
export async function readLogTail(
  deps: ReadLogDeps,
  caller: Caller,
  { app_id: id, number, wait_seconds: waitSeconds = 0 }: LogTailRequest,
): Promise<DeploymentLogTail> {
  if (waitSeconds > 0)
    await pollUntil(
      () =>
        selectLog(deps.db, { orgId: caller.orgId, appId: id }, number).select("deployments.status").executeTakeFirst(),
      (deployment) => deployment === undefined || !isInProgress(deployment.status),
      Date.now() + waitSeconds * 1000,
      WAIT_PAUSES,
    );
  const { logs, ...shown } =
    number === undefined
      ? await readDeploymentLog(deps, caller, id)
      : await readLogOfDeployment(deps, caller, { id, number });
  const log = logs === null ? null : takeEnd(logs, RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS);
  return { ...shown, log, omitted_characters: (logs?.length ?? 0) - (log?.length ?? 0) };
}

/** Takes whole lines from the end of a text while their JSON has at most `maxCharacters`; of one longer line, its end. */
function takeEnd(text: string, maxCharacters: number): string {
  let end = text.slice(-maxCharacters);
  while (JSON.stringify(end).length > maxCharacters) end = end.slice(Math.ceil(end.length / 10));
  if (end === text) return text;
  const lineStart = end.indexOf("\n") + 1;
  return end.slice(lineStart < end.length ? lineStart : 0).replace(/^[\uDC00-\uDFFF]/, "");
}
