import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SCRIPT = path.resolve(import.meta.dirname, "../../scripts/check-decisions.ts");

function check(...args: string[]): { status: number | null; problems: string } {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: "utf8" });
  return { status, problems: stderr };
}

test("every decision has a number, a status with a date, and at most 400 words", () => {
  expect(check()).toEqual({ status: 0, problems: "" });
});

test.each([
  [
    "a date that does not exist",
    "0001-a.md",
    "# 1. A\n\n*Accepted 2026-02-30*\n",
    "line 3 is not *Accepted YYYY-MM-DD*",
  ],
  ["no status", "0001-a.md", "# 1. A\n\nText.\n", "line 3 is not *Accepted YYYY-MM-DD*"],
  ["another number in its title", "0001-a.md", "# 2. A\n\n*Accepted 2026-02-03*\n", "has another number"],
  ["a number that is not the next one", "0002-a.md", "# 2. A\n\n*Accepted 2026-02-03*\n", "is decision 1"],
  ["401 words", "0001-a.md", `# 1. A\n\n*Accepted 2026-02-03*\n${" word".repeat(396)}\n`, "has 401 words, at most 400"],
  ["no successor", "0001-a.md", "# 1. A\n\n*Superseded 2026-02-03*\n", "does not link to the decision"],
  [
    "a successor that does not exist",
    "0001-a.md",
    "# 1. A\n\n*Superseded 2026-02-03, by [decision 2](0002-b.md)*\n",
    "links to 0002-b.md, which does not exist",
  ],
])("a decision with %s fails the check", async (_rule, file, text, problem) => {
  await using folder = await temporaryFolder();
  await writeFile(path.join(folder.path, file), text);
  expect(check(folder.path)).toEqual({ status: 1, problems: expect.stringContaining(problem) });
});
