import { SKILL_LIMITS } from "./skill-limits.ts";

/** A check that finds a violation, and the rule in words that follow the path. */
type Rule = readonly [isViolated: (path: string) => boolean, rule: string];

/** Names that Windows reserves for devices, with every extension. */
const DEVICE = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)/i;

const segments = (path: string): string[] => path.split("/");

/**
 * Agents write the files of a skill to disks of every operating system, so a path has to mean the same file on each of
 * them, and a file below the folder of the skill. The first violated rule is the one that the error states.
 */
const RULES: readonly Rule[] = [
  [(path) => path === "", "must not be empty"],
  [
    (path) => !path.isWellFormed() || path.includes("\uFFFD") || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path),
    "must be Unicode text without control or invisible characters",
  ],
  [(path) => path.includes("\\"), "must have `/` between folders, not a backslash"],
  [(path) => /^[A-Za-z]:/.test(path), "must not start with a drive letter"],
  [(path) => path.startsWith("/"), "must be relative, without `/` at its start"],
  [(path) => segments(path).includes(".."), "must not contain `..`"],
  [(path) => segments(path).some((name) => name === "" || name === "."), "must not contain empty segments or `.`"],
  [(path) => /[:*?"<>|]/.test(path), 'must not contain any of the characters : * ? " < > |'],
  [
    (path) => segments(path).some((name) => /[. ]$/.test(name)),
    "must not have a segment that ends with a dot or a space",
  ],
  [
    (path) => segments(path).some((name) => DEVICE.test(name)),
    "must not have a segment that Windows reserves for a device",
  ],
  // Its configuration could name programs that git starts when an agent uses it in the folder of the skill.
  [(path) => segments(path).some((name) => name.toLowerCase() === ".git"), "must not be in a folder `.git`"],
  [(path) => Buffer.byteLength(path) > SKILL_LIMITS.pathBytes, `must have at most ${SKILL_LIMITS.pathBytes} bytes`],
  [
    (path) => segments(path).length > SKILL_LIMITS.pathDepth,
    `must have at most ${SKILL_LIMITS.pathDepth - 1} nested folders`,
  ],
];

/** Returns the rule that a path violates; `null` for a path that is allowed. */
export function findPathViolation(path: string): string | null {
  return RULES.find(([isViolated]) => isViolated(path))?.[1] ?? null;
}

/** Equal for two paths that are the same file on some file system, which may ignore case and Unicode composition. */
export function foldPath(path: string): string {
  return path.normalize("NFKC").toLowerCase().normalize("NFKC");
}
