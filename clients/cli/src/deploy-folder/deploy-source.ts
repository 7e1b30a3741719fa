import { stat } from "node:fs/promises";
import { type CliError, usageError } from "../cli-error.ts";

/** What a deploy command deploys. */
export type DeploySource = { kind: "folder"; folder: string } | { kind: "repository"; repository: string };

/** A path that is one whatever exists: `.`, `..`, `./app`, `../app`, `/srv/app`, `C:\app`. */
const PATH = /^(?:\.{1,2}$|\.{0,2}[/\\]|[a-z]:[/\\])/i;
/** `owner/name`, which is also a path. */
const REPOSITORY = /^[^/\\\s:@]+\/[^/\\\s:@]+$/;

export interface ResolvedSource {
  source: DeploySource;
  /** What the user should know about the decision; `null` if it is plain. */
  note: string | null;
}

/**
 * Decides whether an argument is a folder or a repository. `owner/name` is always a repository, also if there is such a folder.
 *
 * @throws {CliError} for a folder that does not exist, and for what is neither
 */
export async function resolveSource(argument: string): Promise<ResolvedSource> {
  const found = await stat(argument).catch(() => null);
  if (PATH.test(argument)) {
    if (found === null) throw usageError(`There is no folder ${argument}.`);
    if (!found.isDirectory()) throw isFile(argument);
    return { source: { kind: "folder", folder: argument }, note: null };
  }
  const source = { kind: "repository", repository: argument } as const;
  if (REPOSITORY.test(argument)) {
    const note = `${argument} is deployed as a repository. To deploy the folder: svc deploy ./${argument}`;
    // The service's own examples are in such a folder too, where a new user begins.
    const isAmbiguous = found?.isDirectory() === true && !argument.startsWith("examples/");
    return { source, note: isAmbiguous ? note : null };
  }
  // A repository has a slash in its name.
  if (/[/:]/.test(argument)) return { source, note: null };
  if (found?.isDirectory() === true) return { source: { kind: "folder", folder: argument }, note: null };
  if (found !== null) throw isFile(argument);
  throw usageError(
    `"${argument}" is neither a folder nor a repository. Pass a folder such as . or ./app, or a repository as owner/name.`,
  );
}

function isFile(argument: string): CliError {
  return usageError(`${argument} is a file. Pass the folder of the app.`);
}
