/** Why a process ended, for the runtime log of the app. */
const FAILURES: Readonly<Record<string, string>> = {
  memory: "The app used too much memory and was stopped. It starts again with the next request.",
  hang: "The app did not respond and was stopped. Its code may contain an endless loop.",
};

const CRASHED = "The process of the app ended unexpectedly. It starts again with the next request.";

/** @param lastError - the last error that the app printed; `null` if there is none */
export function describeFailure(reason: string, lastError: string | null): string {
  const description = FAILURES[reason] ?? CRASHED;
  return lastError === null ? description : `${description} Last error: ${lastError}`;
}
