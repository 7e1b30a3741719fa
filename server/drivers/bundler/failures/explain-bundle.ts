import { BuildFailure } from "../../../../domain/shared/errors.ts";
import { adviseOnImport } from "./advise-on-import.ts";
import { explainMissingCommand } from "./explain-command.ts";
import { findCause } from "./find-cause.ts";

const DEFAULT_ADVICE =
  "Correct this error. To reproduce it locally, run: npx wrangler deploy --dry-run (for a Pages project: npx wrangler pages functions build)";

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /entry-point file at .{1,500} was not found/,
    "Set main in the wrangler configuration to a file of the repository, or to one that the build script writes.",
  ],
  [/not exported in your entrypoint/, "Export these classes from the main script, and deploy again."],
  [
    /configuration|Invalid TOML|InvalidSymbol|PropertyNameExpected|should be/,
    "Correct the wrangler configuration. To check it locally, run: npx wrangler deploy --dry-run",
  ],
];

/** What wrangler puts before the output of the custom build, and what it prints if that failed. */
const CUSTOM_BUILD = "[custom build] ";
const FAILED_CUSTOM_BUILD = /Running custom build `.{0,300}/;

/** Says why wrangler could not bundle an app, and what to do. `lines` is its output. */
export function explainBundleFailure(lines: readonly string[]): BuildFailure {
  if (lines.some((line) => FAILED_CUSTOM_BUILD.test(line))) return explainCustomBuild(lines);
  const location = lines.find((line) => /^\S+:\d+:\d+:$/.test(line));
  const suffix = location === undefined ? "" : ` (${location.slice(0, -1)})`;
  const reason = findReason(lines) ?? lines.at(-1) ?? "wrangler printed no reason.";
  const advice = adviseOnImport(reason) ?? ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? DEFAULT_ADVICE;
  return new BuildFailure("user", `The app could not be bundled: ${reason}${suffix}`, advice);
}

/** The command is `build.command` of the wrangler configuration. Wrangler's own error says only that it failed. */
function explainCustomBuild(lines: readonly string[]): BuildFailure {
  const subject = "The command build.command of the wrangler configuration";
  const printed = lines.filter((line) => line.startsWith(CUSTOM_BUILD)).map((line) => line.slice(CUSTOM_BUILD.length));
  const output = printed.filter((line) => !line.startsWith("Running: "));
  const cause = findCause(output) ?? "it printed nothing.";
  return (
    explainMissingCommand(subject, output) ??
    new BuildFailure("user", `${subject} failed: ${cause}`, adviseOnImport(cause) ?? DEFAULT_ADVICE)
  );
}

function findReason(lines: readonly string[]): string | null {
  for (const [index, line] of lines.entries()) {
    const text = /\[ERROR\] (.+)/.exec(line)?.[1];
    // The first error may only say how many errors follow.
    if (text === undefined || /^Build failed with \d+ errors?:$/.test(text)) continue;
    // A text that ends with a period or a colon continues in the next line. Otherwise the next line is a location.
    return /[.:]$/.test(text) ? `${text} ${lines[index + 1] ?? ""}`.trim() : text;
  }
  return null;
}
