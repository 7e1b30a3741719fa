/** The part of vitest's JSON report that `countTests` reads. */
export interface TestReport {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Counts the tests of a report. A file that fails outside of its tests counts as one failed test. */
export function countTests({ testResults }: TestReport): TestCounts {
  const count: TestCounts = { passed: 0, failed: 0, skipped: 0 };
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

/** Returns `12 passed, 0 failed`, followed by `, 1 skipped` if tests were skipped. */
export function formatCounts({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
