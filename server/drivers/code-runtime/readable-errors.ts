const AVAILABLE =
  'Only "zod" and the modules of Node.js (such as "node:crypto") can be imported: a program has no network and no files. ' +
  "Everything else is reached through `service`.";
const NO_RIGHTS =
  "A program has no files, network, environment or subprocesses: it reaches everything through `service`.";

/** What the runtime says of a refusal, and what the program's author can do about it. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/--no-(npm|remote) is specified|Requires import access to|not in import map|Module not found "/, AVAILABLE],
  [/\bNotCapable: Requires (?!import )/, NO_RIGHTS],
];

/** Where the runtime's account of its own crash begins. */
const CRASH =
  /\n*(?:<--- Last few GCs --->|#\n# Fatal |={4,}\nDeno has panicked|thread '[^'\n]*' (?:\(\d+\) )?panicked at )/;

/** Names the program's own file in the way an editor does; it is the only one of its own that it has. */
export function withoutPaths(text: string): string {
  return text.replaceAll("file:///code/", "").replaceAll("file:///nothing/", "file:///");
}

/** Rewrites what the runtime printed for a program's author: no path and no part of the sandbox, and what to do. */
export function readableErrors(text: string): string {
  const whole = text.replace(/, run again with the --allow-\w+ flag|[;,] but --no-(?:npm|remote) is specified/g, "");
  const lines = withoutPaths(whole)
    .split("\n")
    .filter((line) => !isInternal(line));
  const hints = HINTS.filter(([pattern]) => pattern.test(text)).map(([, hint]) => hint);
  return withNotes(lines.join("\n"), hints);
}

/** Leaves out the runtime's account of how it crashed; what the program printed before stays. */
export function withoutCrashReport(text: string): string {
  const at = text.search(CRASH);
  return at < 0 ? text : text.slice(0, at);
}

/** Adds lines of ours, each on a line of its own. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${start}${notes.join("\n")}\n`;
}

function isInternal(line: string): boolean {
  return /^\s+at .*(?:ext:|file:\/\/\/opt\/)/.test(line) || /^\s+hint: .*`deno /.test(line);
}
