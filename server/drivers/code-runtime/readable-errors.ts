import { WORKSPACE_LIMITS } from "../../../domain/ports/agent-workspaces.ts";

const IMPORT_HINT =
  'Only "zod", the modules of Node.js (such as "node:crypto") and files in /workspace can be imported: a program has no ' +
  "network and no other files. Use `service` for everything else.";
const PERMISSION_HINT =
  'A program has no files except those in /workspace, whose paths its code must contain (such as "/workspace/notes.txt"), ' +
  "and no network, environment or subprocesses. Use `service` for everything outside of the program.";
const SPACE_HINT = `/workspace is full: it holds ${WORKSPACE_LIMITS.bytes / 1024 ** 2} MiB, and ${WORKSPACE_LIMITS.entries} files and folders. Remove files that are no longer needed.`;

/** Error texts of the runtime, and what the author of the program can do about them. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/--no-(npm|remote) is specified|Requires import access to|not in import map|Module not found "/, IMPORT_HINT],
  [/\bNotCapable: Requires (?!import )/, PERMISSION_HINT],
  [/No space left on device|\bENOSPC\b/, SPACE_HINT],
];

/** The start of the report that the runtime prints when it crashes. */
const CRASH_REPORT =
  /(?<!\n)\n*(?:<--- Last few GCs --->|#\n# Fatal |(?<!=)={4,}\nDeno has panicked|thread '[^'\n]*' (?:\(\d+\) )?panicked at )/;

/** Shortens the URLs of the program's own files to their names. */
export function withoutPaths(text: string): string {
  return text
    .replaceAll("file:///workspace/", "/workspace/")
    .replaceAll("file:///code/", "")
    .replaceAll("file:///nothing/", "file:///");
}

/** Rewrites error output for the author of a program: without paths and parts of the sandbox, and with hints. */
export function makeErrorsReadable(text: string): string {
  const shortened = text.replace(
    /, run again with the --allow-\w+ flag|[;,] but --no-(?:npm|remote) is specified/g,
    "",
  );
  const lines = withoutPaths(shortened)
    .split("\n")
    .filter((line) => !isInternal(line));
  const hints = HINTS.filter(([pattern]) => pattern.test(text)).map(([, hint]) => hint);
  return appendLines(lines.join("\n"), hints);
}

/** Removes the runtime's report of its crash. Earlier output of the program stays. */
export function withoutCrashReport(text: string): string {
  const at = text.search(CRASH_REPORT);
  return at < 0 ? text : text.slice(0, at);
}

export function appendLines(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return text;
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${start}${lines.join("\n")}\n`;
}

function isInternal(line: string): boolean {
  return /^\s+at .*(?:ext:|file:\/\/\/opt\/)/.test(line) || /^\s+hint: .*`deno /.test(line);
}
