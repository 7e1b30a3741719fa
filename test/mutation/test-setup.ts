/** Runs in the process of the tests, before the modules of each test file are loaded and after Stryker's own setup. */
import path from "node:path";
import { afterAll, beforeAll, inject } from "vitest";

/** What Stryker shares with the instrumented code. */
interface Instrumentation {
  activeMutant?: string | undefined;
  /** The executions of each mutated place outside a test, and by test. */
  mutantCoverage?: { perTest: Record<string, Record<string, number>> };
  currentTestId?: string | undefined;
}

const HOOKS = "hooks";
const stryker = (globalThis as { __stryker__?: Instrumentation }).__stryker__ ?? {};

// A reused process loads further modules without the previous mutant. Stryker activates the next one when the tests start.
if (inject("mutantActivation") === "runtime") stryker.activeMutant = undefined;
const loadedLate = inject("loadedLate");
if (loadedLate !== "") await import(path.resolve(import.meta.dirname, "../..", loadedLate));
if (inject("mode") === "dry-run") attributeHooksToTests();

/**
 * Counts the code that hooks execute as executed by every test of the file. Stryker would count it as code that runs when a
 * module is loaded, and run all tests of the area in a new process.
 */
function attributeHooksToTests(): void {
  const tests = new Set<string>();
  let currentTest: string | undefined;
  let isRunning = false;
  Object.defineProperty(stryker, "currentTestId", {
    configurable: true,
    get: () => currentTest ?? (isRunning ? HOOKS : undefined),
    set: (id: string | undefined) => {
      currentTest = id;
      if (id !== undefined) tests.add(id);
    },
  });
  beforeAll(() => {
    isRunning = true;
  });
  afterAll(() => {
    isRunning = false;
    const perTest = stryker.mutantCoverage?.perTest ?? {};
    for (const test of tests) perTest[test] = { ...perTest[HOOKS], ...perTest[test] };
    delete perTest[HOOKS];
  });
}
