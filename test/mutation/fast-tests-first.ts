import { readFile } from "node:fs/promises";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Runs the tests without a service or a compiler first: the first test that fails ends the run of a mutant. */
export class FastTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = await Promise.all(files.map(async (file) => ({ file, rank: await rank(file) })));
    return ranked
      .toSorted((a, b) => a.rank - b.rank || (a.file.moduleId < b.file.moduleId ? -1 : 1))
      .map(({ file }) => file);
  }
}

async function rank({ moduleId }: TestSpecification): Promise<number> {
  const source = await readFile(moduleId, "utf8");
  return /startService|Harness|findTypeErrors/.test(source) ? 1 : 0;
}
