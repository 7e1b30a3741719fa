import { readFileSync } from "node:fs";
import type { Explanation } from "../explain-server-build.ts";
import { resolveStartFile } from "./find-start-file.ts";
import { readStartFile, type StartCommand } from "./start-command.ts";

/** Signs of a script that exports something that can be a handler, or imports a module that may register one. */
const MAYBE_WORKER = /\bdefault\b|\baddEventListener\b|\bmodule\.exports\b|\bexports\.|^\s*import\s*["']/m;

/** Servers that only other runtimes have. */
const OTHER_RUNTIMES: readonly (readonly [RegExp, string, string])[] = [
  [/\bBun\.serve\s*\(/, "Bun.serve", "Bun"],
  [/\bDeno\.serve\s*\(/, "Deno.serve", "Deno"],
];

const ADVICE =
  'For a Node server, let "start" in package.json run the file that listens, such as "node server.js". For a Worker, export a handler: export default { fetch(request) { … } }.';

/**
 * Explains why neither the start script nor the entry of a project without a Node server can be deployed.
 *
 * @param entry - the script that would be deployed as a Worker
 * @returns `null` if the entry may be a Worker, or if there is no start script
 */
export function explainStart(command: StartCommand | null, entry: string | undefined): Explanation | null {
  if (entry !== undefined && MAYBE_WORKER.test(readFileSync(entry, "utf8"))) return null;
  const named = readStartFile(command) ?? (command?.program === "deno" ? findScript(command) : undefined);
  const started = named === undefined ? undefined : resolveStartFile(named);
  if (named !== undefined && started === undefined) return missingFile(named);
  const file = started ?? entry;
  const otherRuntime = file === undefined ? null : explainRuntime(file);
  if (otherRuntime !== null) return otherRuntime;
  const problem = file === undefined ? [] : [`${file} neither listens on a port nor exports a handler.`];
  if (command !== null && named === undefined)
    problem.push(`The start script runs ${command.program}, which starts no server here.`);
  return problem.length === 0 ? null : { message: problem.join(" "), advice: ADVICE };
}

function missingFile(file: string): Explanation {
  return {
    message: `The start script runs ${file}, which does not exist after the build.`,
    advice: 'Let "build" in package.json write this file, or let "start" run a file of the repository.',
  };
}

function explainRuntime(file: string): Explanation | null {
  const text = readFileSync(file, "utf8");
  const found = OTHER_RUNTIMES.find(([pattern]) => pattern.test(text));
  if (found === undefined) return null;
  const [, call, runtime] = found;
  return {
    message: `${file} calls ${call}, which only ${runtime} has.`,
    advice:
      "Export the handler instead: export default { fetch(request) { … } }. Or listen with node:http, or with a package that uses it, such as Express, Fastify or @hono/node-server.",
  };
}

function findScript({ args }: StartCommand): string | undefined {
  return args.find((word) => /\.[cm]?[jt]sx?$/.test(word));
}
