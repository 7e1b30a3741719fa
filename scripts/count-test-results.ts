/** The part of vitest's JSON report that is counted. */
export interface TestReport {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/** Counts a report's tests. A file that failed before or between its tests counts as one failed test. */
export function tally({ testResults }: TestReport): Tally {
  const count: Tally = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, assertionResults } of testResults) {
    const statuses = assertionResults.map((result) => result.status);
    const failed = statuses.filter((each) => each === "failed").length;
    const passed = statuses.filter((each) => each === "passed").length;
    count.passed += passed;
    count.failed += status === "failed" && failed === 0 ? 1 : failed;
    count.skipped += statuses.length - passed - failed;
  }
  return count;
}

/** `12 passed, 0 failed`, with `, 1 skipped` when there is one. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
