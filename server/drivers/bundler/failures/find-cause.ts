/** Lines that never say why a tool failed: stack frames, code frames, headings, and what package managers add. */
const SKIPPED: readonly RegExp[] = [
  /^at /,
  /^node:[\w/]+:\d+$/,
  /^(Node\.js|Bun) v\d/,
  // Braces, carets and rules. Letters of all scripts can be a reason.
  /^[^\p{L}\p{N}]+$/u,
  /^(> )?\d+( [|│]|:) /,
  /^(throw err?;|triggerUncaughtException\(|Emitted 'error' event)/,
  /^(errno|code|syscall|hostname|requireStack|digest|address|port|file|frame|plugin|id): /,
  /^(Require stack|Import trace.*|Caused by):$/,
  /^- \//,
  /^(For help|See |Read more|https?:\/\/\S+$)/,
  /^(error during build|failed to compile\.?|> ?build error occurred|✗ build failed.*)/i,
  /(failed with|found) \d+ errors?[:.]?$/i,
  /\berror:$/i,
  /^(\[error\] )?[✗x] Build failed/,
  // What Node prints of the error of a bundler.
  /^errors: \[/,
  /^\W*Error: Command failed/,
  /^\d+ errors?$/,
  /^\S* ?\[ERROR\] \[\w+\] ✗ Build failed/,
  /\b(exited with (code|status)|exit code:?) \d+|^error Command failed/i,
];

/** The code of an error of Rolldown, and the plugin that threw an error. A position can be behind the plugin. */
const DIAGNOSTIC = /^\[(?:[A-Z]+(?:_[A-Z]+)+|(?:builtin|plugin)[: ][^\]]+)\] (?!\S+:\d+:\d+$)/;

/** Lines that state a reason in the words of a common tool. */
const CERTAIN: readonly RegExp[] = [
  DIAGNOSTIC,
  /\berror TS\d+: /,
  /Cannot find (module|package) '/,
  /Can't resolve '/,
  /Could not resolve "/,
  /Failed to resolve import "/,
  /is not exported by "/,
  /^(\/bin\/)?sh: .*not found$/,
  /\bcommand not found\b/,
  /heap out of memory/,
  /^(Type|Build) error: /,
  /^\W*(\[cause\]: )?(Uncaught )?(\w*Error|AggregateError)( \[\w+\])?: \S/,
];

/** Failed connections. Builds survive some of them, such as those of telemetry, so other reasons have precedence. */
const NETWORK = /\b(ENOTFOUND|EAI_AGAIN)\b|Could not resolve host: |from Google Fonts/;

/** Lines that probably state a reason. */
const LIKELY =
  /\b(errors?|fail(ed|ure)?|cannot|can't|could not|unable|invalid|missing|unexpected|not (found|defined|exported)|E(NOENT|EXIST|ACCES|ISDIR|NOTDIR|PERM|ROFS))\b/i;

/** The path of a file, with a position, in the line before a reason. */
const LOCATION = /^(?:ERROR in |\[plugin [^\]]+\] )?(?:\.\/)?([\w@./[\]()-]+\.\w+(?::\d+:\d+)?)(?: \d+:[\d-]+)?:?$/;

/** The path of a file, with a position, in the line after a reason of Rolldown. */
const FRAME = /^╭─+\[ ([^\s?]+)(?:\?\S*?)?(:\d+:\d+) \]$/;

/** What the tools of Nuxt draw at the left of their output. */
const BORDER = /^[│■▲●◇◆└┌] +/u;

/**
 * Chooses the line of a tool's output that says why it failed, with the file that the line before or after it names.
 *
 * @param lines - of `OutputTail`
 * @returns `null` if the output is empty
 */
export function findCause(lines: readonly string[]): string | null {
  const shown = lines.map((line) => line.replace(BORDER, ""));
  const usable = shown.filter((line) => !SKIPPED.some((pattern) => pattern.test(line)));
  const isCertain = (line: string) => CERTAIN.some((pattern) => pattern.test(line));
  // An uncaught error ends the process. What was logged before it did not.
  const isUncaught = lines.some((line) => /^Node\.js v\d/.test(line));
  const certain = isUncaught ? usable.findLast(isCertain) : usable.find(isCertain);
  const network = usable.find((line) => NETWORK.test(line));
  const cause =
    certain ?? network ?? usable.find((line) => LIKELY.test(line) && !/^(⚠|\[?warn)/i.test(line)) ?? usable.at(-1);
  if (cause === undefined) return lines.at(-1) ?? null;
  const frame = FRAME.exec(shown[shown.indexOf(cause) + 1] ?? "")
    ?.slice(1)
    .join("");
  const location = frame ?? LOCATION.exec(usable[usable.indexOf(cause) - 1] ?? "")?.[1];
  const text = withoutPrefix(cause);
  return location === undefined || text.includes(location) ? text : `${text} (${location})`;
}

/** Removes what only says that the line is about an error. The names of other errors than `Error` stay. */
function withoutPrefix(line: string): string {
  return line
    .replace(/^\W*\[ERROR\] /i, "")
    .replace(DIAGNOSTIC, "")
    .replace(/^\W*(\[cause\]: )?(?=\w*Error\b)/, "")
    .replace(/^(Uncaught )?(Error( \[\w+\])?|error): (?=\S)/, "")
    .replace(/^Error: /, "")
    .replace(/\]? \{$/, "");
}
