import { ServiceError } from "../shared/errors.ts";

const MAX_BYTES = 255;

/** A check that finds a violation, and the rule in words that follow "root_directory:". */
type Rule = readonly [isViolated: (directory: string) => boolean, rule: string];

/** The first violated rule is the one that the error states. Whether the folder exists is known after the clone only. */
const RULES: readonly Rule[] = [
  [(directory) => directory === "", "must not be empty"],
  [(directory) => Buffer.byteLength(directory) > MAX_BYTES, `must have at most ${MAX_BYTES} bytes`],
  [
    (directory) => !directory.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(directory),
    "must not contain control or invisible characters",
  ],
  [(directory) => directory.includes("\\"), "must have `/` between folders, not a backslash"],
  [
    (directory) => directory.startsWith("/"),
    "must be relative to the root of the repository, without `/` at its start",
  ],
  [(directory) => directory.split("/").includes(".."), "must be inside the repository, without `..`"],
];

/**
 * Returns the directory in one form: `apps/web`, or `.` for the root of the repository.
 *
 * @param directory - a folder of a repository, relative to its root
 * @throws {ServiceError} `invalid`
 */
export function normalizeRootDirectory(directory: string): string {
  const violated = RULES.find(([isViolated]) => isViolated(directory));
  if (violated)
    throw new ServiceError("invalid", `root_directory: ${violated[1]}. Examples: "apps/web", "." for the root.`);
  const segments = directory.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.join("/") || ".";
}
