import { readFile } from "node:fs/promises";
import util from "node:util";
import type { Command } from "commander";
import type { Input } from "../../sdk/src/client.ts";
import { CliError, usageError } from "./cli-error.ts";
import { type Context, readStdin } from "./context.ts";
import { promptSecret } from "./prompt-secret.ts";

type Variable = NonNullable<Input<"apps", "deploy">["variables"]>[number];

/** The options for variables. Values of secrets are never arguments, which other users of the machine can see. */
export interface VariableOptions {
  /** `NAME=VALUE`. */
  var?: string[];
  /** Names. */
  secret?: string[];
  /** Not `--env-file`: Node would read that option, also behind the name of the script. */
  secretsFile?: string;
  /** Names of variables that builds get too. */
  buildVar?: string[];
}

export function addVariableOptions(command: Command): Command {
  const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];
  return command
    .option("--var <name=value>", "a variable of the app; repeat it for several", collect)
    .option(
      "--secret <name>",
      "a secret, whose value is the environment variable of this name, or else is read from standard input; repeat it for several",
      collect,
    )
    .option("--secrets-file <file>", "a file with a line NAME=VALUE for each variable, all of them secrets")
    .option("--build-var <name>", "a variable of these that builds get too; repeat it for several", collect);
}

/**
 * Reads the variables that the options name. An option takes precedence over the file.
 *
 * @throws {CliError} for a value that is missing, or a file that cannot be read
 */
export async function readVariables(context: Context, options: VariableOptions): Promise<Variable[]> {
  const variables = new Map<string, Variable>();
  const add = (variable: Variable): void => void variables.set(variable.name, variable);
  if (options.secretsFile !== undefined)
    for (const [name, value] of await readSecretsFile(options.secretsFile)) add({ name, value, secret: true });
  for (const given of options.var ?? []) add(parseVariable(given));
  for (const [name, value] of await readSecrets(context, options.secret ?? [])) add({ name, value, secret: true });
  for (const name of options.buildVar ?? []) {
    const variable = variables.get(name);
    if (variable === undefined)
      throw usageError(`--build-var ${name}: no option sets this variable. Add --var or --secret.`);
    variable.build = true;
  }
  return [...variables.values()];
}

function parseVariable(given: string): Variable {
  const end = given.indexOf("=");
  if (end < 1) throw usageError("--var: must have the form NAME=VALUE. For a secret, use --secret NAME.");
  return { name: given.slice(0, end), value: given.slice(end + 1) };
}

async function readSecrets(context: Context, names: readonly string[]): Promise<[name: string, value: string][]> {
  const { environment, stdin } = context;
  const wrong = names.find((name) => name.includes("="));
  if (wrong !== undefined)
    throw usageError("--secret: must be a name without a value, because other users can see arguments.");
  const missing = names.filter((name) => environment.variable(name) === undefined);
  if (missing.length > 1 && stdin.isTTY !== true)
    throw usageError(
      `The values of ${missing.join(", ")} are missing. Set environment variables of these names, or use --secrets-file.`,
    );
  const secrets: [string, string][] = [];
  for (const name of names) {
    const read = () =>
      stdin.isTTY === true ? promptSecret(context, name) : readStdin(context, `The value of ${name}`);
    secrets.push([name, environment.variable(name) ?? (await read())]);
  }
  return secrets;
}

async function readSecretsFile(file: string): Promise<[name: string, value: string][]> {
  // Node 20.12 and later. An import by name would fail with earlier versions, also for other commands.
  if (!("parseEnv" in util)) throw new CliError("--secrets-file requires Node 20.12 or newer.");
  const text = await readFile(file, "utf8").catch(({ code, message }: NodeJS.ErrnoException) => {
    throw usageError(`Cannot read ${file}: ${code ?? message}.`);
  });
  return Object.entries(util.parseEnv(text)).map(([name, value = ""]) => [name, value]);
}
