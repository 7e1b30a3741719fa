import { BuildFailure } from "../../../../domain/shared/errors.ts";
import { adviseToSet, findMissingVariables } from "../../../../domain/shared/missing-variables.ts";
import { ABSENT_FILE, adviseOnImport } from "./advise-on-import.ts";
import { explainMissingCommand } from "./explain-command.ts";
import { type BuildConnections, explainConnection, explainDownloadedPackage } from "./explain-network.ts";
import { adviseOnNodeVersion, isAboutNodeVersion, newestNodeWithout } from "./explain-node-version.ts";
import { findCause } from "./find-cause.ts";

const HEAP_LIMIT = /heap out of memory/;

/** The advice for a cause that matches. The first match decides. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/\bENOENT: no such file or directory, \w+ '(?!\/)/, ABSENT_FILE],
  [
    /0308010C|digital envelope routines/,
    "webpack 4 needs an algorithm that Node.js has removed. Update the tool that uses it (such as react-scripts to 5), or add NODE_OPTIONS=--openssl-legacy-provider before the command of the build script.",
  ],
  [
    /@prisma\/client["'`\\]*'? has no exported member|@prisma\/client did not initialize yet/,
    "Prisma Client was not generated, or has no such member. Run `prisma generate` in the build script, before the code is compiled. If the build log says that Prisma could not download its engines from binaries.prisma.sh, ask the operator to add prisma to BUILD_EGRESS.",
  ],
  [/\berror TS\d+: |^Type error: /, "Correct the error. To see all errors, run: npx tsc --noEmit"],
  [
    /sharp.{0,80}\.node|@img\/sharp|["'`]sharp["'`] module/i,
    "The program of sharp for Linux is missing. Update sharp to ^0.33.0 or later, whose program is an npm package, and commit a lockfile that has it: `npm install --os=linux --cpu=x64 sharp`. Then deploy again.",
  ],
  [
    /\.node'|bindings file|prebuil[dt]|node-gyp/i,
    "The native program of this package is missing. The build log says which install scripts ran. With pnpm 10 and Bun, approve the package in package.json (pnpm.onlyBuiltDependencies, trustedDependencies).",
  ],
  [
    /environment variable|process\.env\.|\b[A-Z][A-Z\d]*_[A-Z\d_]+\b.{0,200}\b(missing|required|not (set|defined|provided))|\b(missing|required|set) .{0,200}\b[A-Z][A-Z\d]*_[A-Z\d_]+\b/i,
    "A build has no variables of your machine. Set the variable with build: true (PUT /v1/apps/{id}/variables/{name}), or a default value in the code, and deploy again.",
  ],
  [
    /\bSyntaxError\b|Unexpected token|Unterminated|Invalid end tag|closing tag/i,
    "Correct the syntax at this place, and deploy again.",
  ],
];

const DEFAULT_ADVICE =
  "Correct this error. To reproduce it, run the build script in a clean checkout. The build log has all of its output.";

/** The exit code of a shell whose command does not exist. */
const COMMAND_NOT_FOUND = 127;

/** What a build script did, and how it could. */
export interface BuildCircumstances extends BuildConnections {
  /** The version of Node.js that ran it. */
  nodeVersion: string;
  /** The lines of its output that may be longer than those that an error quotes; by default the same. */
  longLines?: readonly string[];
}

/** A tool refuses the version of Node.js with which the build ran. */
export class NodeRefused extends BuildFailure {
  /** What the tool printed. */
  readonly reason: string;

  constructor(reason: string, message: string, advice: string) {
    super("user", message, advice);
    this.reason = reason;
  }
}

/** The build uses what its version of Node.js does not have any more. */
export class NeedsOlderNode extends BuildFailure {
  /** What the build printed. */
  readonly reason: string;
  /** The newest major version with which it can succeed. */
  readonly newest: number;

  constructor(reason: string, message: string, newest: number) {
    const advice = `Node.js ${newest} was the last version with it. Update the code, or add "engines": { "node": "${newest}" } to package.json, and deploy again.`;
    super("user", message, advice);
    this.reason = reason;
    this.newest = newest;
  }
}

/** Says why a build script failed, and what to do. `lines` is its output. */
export function explainBuildFailure(
  code: number,
  lines: readonly string[],
  { nodeVersion, longLines = lines, ...connections }: BuildCircumstances,
): BuildFailure {
  const cause = findCause(lines);
  if (cause === null) return userFailure(`The build failed with exit code ${code}.`, DEFAULT_ADVICE);
  if (lines.some((line) => HEAP_LIMIT.test(line))) return heapLimit();
  const command = explainMissingCommand("The build script", code === COMMAND_NOT_FOUND ? [cause, ...lines] : [cause]);
  if (command !== null) return command;
  const downloaded = explainDownloadedPackage(lines, connections);
  if (downloaded !== null) return downloaded;
  const unreachable = explainConnection(cause, lines, connections);
  if (unreachable !== null) return unreachable;
  const message = `The build failed with exit code ${code}: ${cause}${countOthers(cause, lines)}`;
  if (isAboutNodeVersion(cause)) return new NodeRefused(cause, message, adviseOnNodeVersion(nodeVersion));
  const newest = newestNodeWithout(cause);
  if (newest !== null) return new NeedsOlderNode(cause, message, newest);
  const advice =
    adviseOnImport(cause) ??
    adviseOnVariables(longLines) ??
    ADVICE.find(([pattern]) => pattern.test(cause))?.[1] ??
    DEFAULT_ADVICE;
  return userFailure(message, advice);
}

function adviseOnVariables(lines: readonly string[]): string | null {
  const names = findMissingVariables(lines);
  return names.length === 0 ? null : `A build has no variables of your machine. ${adviseToSet(names, "build")}`;
}

/** Says why a step crashed with a signal, if its output says so; otherwise `null`. */
export function explainCrash(lines: readonly string[]): BuildFailure | null {
  return lines.some((line) => HEAP_LIMIT.test(line)) ? heapLimit() : null;
}

function heapLimit(): BuildFailure {
  return userFailure(
    "The build reached the memory limit of Node.js (JavaScript heap out of memory).",
    "Reduce its memory use, or raise the limit in the build script: NODE_OPTIONS=--max-old-space-size=3072. The operator can give builds more memory (BUILD_MEMORY_MB).",
  );
}

/** TypeScript lists many errors of the same kind. */
function countOthers(cause: string, lines: readonly string[]): string {
  const errors = lines.filter((line) => /\berror TS\d+: /.test(line)).length;
  if (errors < 2 || !/\berror TS\d+: /.test(cause)) return "";
  return ` (and ${errors - 1} more)`;
}

function userFailure(message: string, advice: string): BuildFailure {
  return new BuildFailure("user", message, advice);
}
