import { readFile } from "node:fs/promises";
import { BaseSequencer, type Reporter, type TestSpecification } from "vitest/node";

/** The number of the last failure of each test file in this process. */
const lastFailures = new Map<string, number>();
let failures = 0;

/** Remembers which test files fail. */
export const failureRecorder: Reporter = {
  onTestModuleEnd: (module) => {
    if (module.state() === "failed") lastFailures.set(module.moduleId, ++failures);
  },
};

/**
 * The first test that fails ends the run of a mutant. Runs the tests without a service or a compiler first. Of both groups,
 * it first runs the test files that have failed most recently: they often detect the next mutant, too.
 */
export class FastTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = await Promise.all(files.map(async (file) => ({ file, rank: await rank(file) })));
    return ranked
      .toSorted((a, b) => a.rank - b.rank || (a.file.moduleId < b.file.moduleId ? -1 : 1))
      .map(({ file }) => file);
  }
}

/** From 0 to 1 for fast tests, from 1 to 2 for the others. */
async function rank({ moduleId }: TestSpecification): Promise<number> {
  const source = await readFile(moduleId, "utf8");
  const isSlow = /startService|Harness|sharedOrganization|openPublishedClients|findTypeErrors/.test(source);
  return (isSlow ? 2 : 1) - (lastFailures.get(moduleId) ?? 0) / (failures + 1);
}
