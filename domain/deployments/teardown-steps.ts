/** What the teardown of an app removes, in this order. */
export const TEARDOWN_STEPS = [
  "deployments in progress",
  "script, files and keys",
  "app token",
  "SQL database",
  "sources",
  "builds",
  "logs and variables",
] as const;

export type TeardownStep = (typeof TEARDOWN_STEPS)[number];

/** The status message of an app while a step runs. It stays when the step fails, until the teardown is repeated. */
export function teardownMessage(step: TeardownStep): string {
  return `Removing: ${step} (${TEARDOWN_STEPS.indexOf(step) + 1} of ${TEARDOWN_STEPS.length}).`;
}

/** The step that a status message names; `null` for the message before the first step. */
export function readTeardownStep(statusMessage: string | null): TeardownStep | null {
  return TEARDOWN_STEPS.find((step) => teardownMessage(step) === statusMessage) ?? null;
}
