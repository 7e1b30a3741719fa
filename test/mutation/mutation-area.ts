/** Sources that are mutated together, and the tests that have to notice it. */
export interface MutationArea {
  /** The folder that the page and the command line name. */
  name: string;
  /** Glob patterns. */
  sources: string[];
  /** Sources without behavior, or whose tests are excluded (docs/mutation.md says why). */
  except?: string[];
  /** Glob patterns. A mutant counts as survived when these tests pass, even if another test would fail. */
  tests: string[];
  /**
   * The time limit of one test, in milliseconds. Short for fast tests of servers: with most mutants they wait for something
   * that never happens.
   */
  testTimeoutMs?: number;
  /**
   * A module that the service loads only when it starts. It is loaded before the tests: otherwise the mutants of its constants
   * would count as code of the first test file, and a reused process would load it without them, so they would survive.
   */
  loadedLate?: string;
}
