import type { Procedures } from "./generated/procedures.ts";
import { followBuildLog } from "./log-streams.ts";
import type { Input, Output } from "./procedure-types.ts";
import { delay } from "./retries.ts";
import { ServiceError } from "./service-error.ts";
import type { Transport } from "./transport.ts";

export type Deployment = Output<"deployments", "get">;

/** What has happened to a deployment: the service has accepted it, its status has changed, or its log has a new line. */
export type DeploymentProgress =
  | ({ type: "accepted" } & Output<"apps", "deploy">)
  | ({ type: "status" } & Pick<Deployment, "status" | "status_message">)
  | { type: "line"; line: string };

export interface WaitOptions {
  /** Stops waiting. The deployment continues. */
  signal?: AbortSignal;
  onProgress?: (progress: DeploymentProgress) => void;
}

export interface DeployOptions extends WaitOptions {
  /** Calls with the same key create one app. By default, each call gets a random key. */
  idempotencyKey?: string;
}

/** An app whose first deployment is ready. */
export type DeployedApp = Output<"apps", "deploy"> & { deployment: Deployment };

const POLL_INTERVAL_MS = 1_000;
/** How long to wait for the last lines of a log after its deployment has ended. */
const LAST_LINES_MS = 3_000;
const FIRST_DEPLOYMENT = 1;

/** Deploys an app, and waits until it is ready. @throws {ServiceError} `deployment_failed`, `deployment_canceled` */
export async function deployAndWait(
  transport: Transport,
  procedures: Procedures,
  request: Input<"apps", "deploy">,
  { signal, onProgress, idempotencyKey }: DeployOptions = {},
): Promise<DeployedApp> {
  const app = await procedures.apps.deploy(request, {
    ...(signal === undefined ? {} : { signal }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
  onProgress?.({ type: "accepted", ...app });
  const target = { id: app.app_id, number: FIRST_DEPLOYMENT };
  const wait = { ...(signal === undefined ? {} : { signal }), ...(onProgress === undefined ? {} : { onProgress }) };
  return { ...app, deployment: await waitForDeployment(transport, procedures, target, wait) };
}

/** Waits until a deployment is ready. @throws {ServiceError} `deployment_failed`, `deployment_canceled` */
export async function waitForDeployment(
  transport: Transport,
  procedures: Procedures,
  target: Input<"deployments", "get">,
  { signal, onProgress }: WaitOptions = {},
): Promise<Deployment> {
  const closing = new AbortController();
  const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
  // The lines are a help only. A log that cannot be followed does not end the wait.
  const lines =
    onProgress === undefined ? null : reportLines(transport, target, either, onProgress).catch(() => undefined);
  try {
    const deployment = await pollStatus(procedures, target, signal, onProgress);
    if (lines !== null) await Promise.race([lines, delay(LAST_LINES_MS, either)]);
    throwUnlessReady(deployment);
    return deployment;
  } finally {
    closing.abort();
  }
}

async function reportLines(
  transport: Transport,
  target: Input<"deployments", "get">,
  signal: AbortSignal,
  onProgress: (progress: DeploymentProgress) => void,
): Promise<void> {
  for await (const event of followBuildLog(transport, target, { signal })) if (event.type === "line") onProgress(event);
}

async function pollStatus(
  { deployments }: Procedures,
  target: Input<"deployments", "get">,
  signal: AbortSignal | undefined,
  onProgress: WaitOptions["onProgress"],
): Promise<Deployment> {
  let reported = "";
  for (;;) {
    const deployment = await deployments.get(target, signal === undefined ? {} : { signal });
    const { status, status_message } = deployment;
    const state = JSON.stringify([status, status_message]);
    if (state !== reported) onProgress?.({ type: "status", status, status_message });
    reported = state;
    if (deployment.finished_at !== null) return deployment;
    await delay(POLL_INTERVAL_MS, signal);
  }
}

function throwUnlessReady({ status, error, status_message: advice }: Deployment): void {
  if (status === "failed") {
    const text = [error ?? "The deployment failed.", advice].filter((part) => part !== null).join(" ");
    throw new ServiceError("deployment_failed", text);
  }
  if (status === "canceled") throw new ServiceError("deployment_canceled", "The deployment was canceled.");
}
