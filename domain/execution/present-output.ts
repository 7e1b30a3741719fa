import { askForName, findNearestNames } from "../shared/nearest-names.ts";
import { stripControlCodes } from "../shared/plain-text.ts";
import { truncateOutput } from "./truncate-output.ts";

/** What a program printed, and what it could have called. */
export interface ProgramOutput {
  code: string;
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Of the apps of the organization that offer procedures. */
  slugs: readonly string[];
  toolNames: readonly string[];
}

/**
 * Prepares the output of a program for the agent that wrote it: without codes for terminals, with advice about errors that do not
 * explain themselves, and within the size of a response.
 */
export function presentOutput(output: ProgramOutput): ReturnType<typeof truncateOutput> {
  const stdout = stripControlCodes(output.stdout);
  const stderr = stripControlCodes(output.stderr);
  const advice = advise({ ...output, stdout, stderr });
  const separator = stderr === "" || stderr.endsWith("\n") ? "" : "\n";
  return truncateOutput({ stdout, stderr: advice === null ? stderr : `${stderr}${separator}${advice}\n` });
}

/** Returns advice for the first mistake that is found; `null` for none. */
function advise(output: ProgramOutput): string | null {
  const { exitCode, stdout, stderr } = output;
  if (exitCode === 0) return stdout.trim() === "" && stderr === "" ? adviseOnSilence(output) : null;
  if (/\bSyntaxError: Illegal return statement/.test(stderr))
    return "`return` is allowed in functions only: the program is a module. Print its result with console.log.";
  return adviseOnHyphen(output) ?? adviseOnMember(output);
}

function adviseOnSilence({ code }: ProgramOutput): string {
  const nothing = "The program printed nothing. Print results with console.log.";
  const isCallIgnored = /\bservice\s*[.[]/.test(code) && !/\bawait\b|\.then\b/.test(code);
  return isCallIgnored ? `${nothing} A call returns a promise: console.log(await service.…).` : nothing;
}

/** In JavaScript, `service.apps.my-app` is a subtraction. In characters: a slug has at most 63. */
const HYPHENATED = /\bservice\.(apps|tools)\.([\w$]{1,63}(?:-[\w$]{1,63}){1,30})/;

function adviseOnHyphen({ code, stderr, slugs }: ProgramOutput): string | null {
  if (!/\b(?:Reference|Syntax|Type)Error\b/.test(stderr)) return null;
  const [written, group, name = ""] = HYPHENATED.exec(code) ?? [];
  if (written === undefined) return null;
  const nearest = group === "apps" && !slugs.includes(name) ? askForName(findNearestNames(name, slugs)) : "";
  return `${written} is a subtraction in JavaScript. Write service.${group}[${JSON.stringify(name)}].${nearest}`;
}

/** The error of the global `service` for a member that it does not have. */
const UNKNOWN_MEMBER = /\bservice\.([\w$]{1,100}) does not exist\b/;

function adviseOnMember({ stderr, slugs, toolNames }: ProgramOutput): string | null {
  const member = UNKNOWN_MEMBER.exec(stderr)?.[1];
  if (member === undefined) return null;
  const pathByName = new Map([
    ...["apps", "tools", "types"].map((name) => [name, `service.${name}`] as const),
    ...toolNames.map((name) => [name, `service.tools.${name}`] as const),
    ...slugs.map((slug) => [slug, `service.apps[${JSON.stringify(slug)}]`] as const),
  ]);
  const paths = findNearestNames(member, pathByName.keys()).flatMap((name) => pathByName.get(name) ?? []);
  return paths.length === 0 ? null : `Did you mean ${paths.join(" or ")}?`;
}
