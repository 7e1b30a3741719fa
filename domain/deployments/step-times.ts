import { BUNDLE_STEPS } from "../ports/bundler.ts";

/**
 * The steps of a deployment, in their order. One that a deployment does not need is left out. `prepare` stores the source,
 * `inspect` reads the procedures, `store` keeps the bundle for rollbacks, and `publish` starts the app.
 */
export const DEPLOYMENT_STEPS = [
  "fetch",
  "customize",
  "prepare",
  ...BUNDLE_STEPS,
  "inspect",
  "store",
  "provision",
  "migrate",
  "publish",
] as const;

export type DeploymentStep = (typeof DEPLOYMENT_STEPS)[number];

/** A step as it is stored. It ends when the next one starts, or with the deployment. */
export interface StartedStep {
  name: DeploymentStep;
  /** RFC 3339 in UTC with milliseconds. */
  started_at: string;
}

export interface StepTime extends StartedStep {
  /** `null` while the step runs. */
  finished_at: string | null;
}

/** @param finishedAt - when the deployment ended; `null` while it is in progress */
export function toStepTimes(steps: readonly StartedStep[] | null, finishedAt: string | null): StepTime[] {
  return (steps ?? []).map((step, at, all) => ({ ...step, finished_at: all[at + 1]?.started_at ?? finishedAt }));
}
