import { Argument, type Command, Option } from "commander";
import type { Client } from "../../../sdk/src/client.ts";
import { type CliError, usageError } from "../cli-error.ts";
import type { CommandSpec, ParameterSpec } from "../command-spec.ts";
import { confirm, connect, type Context, readStdin } from "../context.ts";
import type { Output } from "../output.ts";
import { resolveAppId } from "../resolve-app.ts";

type Input = Record<string, unknown>;
type Options = Record<string, unknown>;

/** A call of a procedure with the input of a command. */
export interface ProcedureCall {
  client: Client;
  /** The dotted path of the procedure. */
  procedure: string;
  input: Input;
  context: Context;
}

export interface ProcedureResult {
  output: unknown;
  /** What is missing in the output. The command shows the output, and fails with this error. */
  error?: CliError | undefined;
}

/**
 * Adds the arguments and options of a procedure to a command, and calls the procedure.
 *
 * @param call - how the procedure is called; by default once
 */
export function defineProcedureCommand(
  command: Command,
  spec: CommandSpec,
  context: () => Context,
  call: (request: ProcedureCall) => Promise<ProcedureResult> = callOnce,
): void {
  const options = spec.parameters.filter(({ isArgument }) => !isArgument);
  const args = spec.parameters.filter(({ isArgument }) => isArgument);
  command
    .summary(spec.summary)
    .description([spec.summary, spec.description].filter((text) => text !== "").join("\n\n"));
  for (const parameter of args) command.addArgument(toArgument(parameter));
  for (const parameter of options) for (const option of toOptions(parameter)) command.addOption(option);
  command.option("--body <json>", "the fields of the input as a JSON object; - reads it from standard input");
  if (spec.isDestructive) command.option("-y, --yes", "do not ask before it is deleted");
  command.action(async (...received: unknown[]) => {
    const values = received.slice(0, args.length);
    const given = new Map(args.map((parameter, at) => [parameter, values[at]]));
    await runProcedure(spec, context(), command.opts(), given, call);
  });
}

async function runProcedure(
  spec: CommandSpec,
  context: Context,
  options: Options,
  args: ReadonlyMap<ParameterSpec, unknown>,
  call: (request: ProcedureCall) => Promise<ProcedureResult>,
): Promise<void> {
  const { output, signal } = context;
  const input = await readInput(spec, context, options, args);
  const client = await connect(context, `${spec.summary} …`);
  for (const { field, type } of spec.parameters) {
    const app = input[field];
    if (type === "app" && typeof app === "string") input[field] = await resolveAppId(client, app, signal);
  }
  if (spec.isDestructive) await confirm(context, `${spec.summary}?`, options["yes"] === true);
  output.progress(`${spec.summary} …`);
  const result = await call({ client, procedure: spec.procedure, input, context });
  output.value(result.output);
  if (result.error !== undefined) throw result.error;
  if (!output.json) explainList(output, result.output);
}

async function callOnce(call: ProcedureCall): Promise<ProcedureResult> {
  return { output: await callProcedure(call) };
}

function explainList(output: Output, result: unknown): void {
  const { next_cursor: cursor, ...fields } = (result ?? {}) as Record<string, unknown>;
  if (typeof cursor === "string") output.message(`There are more. Continue with: --cursor ${cursor}`);
  const [[name, list] = [], ...others] = Object.entries(fields).filter(([, field]) => field !== null);
  if (others.length === 0 && Array.isArray(list) && list.length === 0) output.message(`No ${String(name)}.`);
}

/** Calls a procedure by its dotted path. */
export function callProcedure({ client, procedure, input, context: { signal } }: ProcedureCall): Promise<unknown> {
  const [namespace = "", name = ""] = procedure.split(".");
  const calls = client[namespace as keyof Client] as unknown as Record<
    string,
    (input: Input, options: { signal: AbortSignal }) => Promise<unknown>
  >;
  const call = calls[name];
  if (call === undefined) throw new Error(`the SDK has no procedure ${procedure}`);
  return call(input, { signal });
}

async function readInput(
  { parameters }: CommandSpec,
  context: Context,
  options: Options,
  args: ReadonlyMap<ParameterSpec, unknown>,
): Promise<Input> {
  const input = await readJsonInput(context, options["body"]);
  for (const parameter of parameters) {
    const given = args.has(parameter) ? args.get(parameter) : options[toAttribute(parameter.name)];
    const value = given === "-" && parameter.type === "text" ? await readStdin(context, `<${parameter.name}>`) : given;
    if (value !== undefined) input[parameter.field] = convert(parameter, value);
  }
  for (const { field, name, isRequired } of parameters)
    if (isRequired && input[field] === undefined) throw usageError(`The option --${name} is missing.`);
  return input;
}

async function readJsonInput(context: Context, given: unknown): Promise<Input> {
  if (typeof given !== "string") return {};
  const text = given === "-" ? await readStdin(context, "The input") : given;
  const value = parseJson(text, "--body");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw usageError("--body: must be a JSON object.");
  return { ...value };
}

function convert({ name, type, isNullable }: ParameterSpec, value: unknown): unknown {
  // `--no-<name>`.
  if (value === false && isNullable === true && type !== "boolean") return null;
  if (type === "json") return parseJson(String(value), `--${name}`);
  return type === "number" ? parseNumber(String(value), name) : value;
}

/** @throws {CliError} for a text that is not a number */
export function parseNumber(text: string, name: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw usageError(`${name}: must be a number.`);
  return number;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageError(`${what}: must be valid JSON.`);
  }
}

function toArgument({ name, description, choices }: ParameterSpec): Argument {
  const argument = new Argument(`<${name}>`, shorten(description));
  return choices === undefined ? argument : argument.choices(choices);
}

function toOptions({ name, type, description, choices, isNullable }: ParameterSpec): Option[] {
  const text = shorten(description);
  if (type === "boolean") return [new Option(`--${name}`, text), new Option(`--no-${name}`).hideHelp()];
  const option = new Option(`--${name} <${type === "json" ? "json" : "value"}>`, text);
  if (choices !== undefined) option.choices(choices);
  if (type === "texts") option.argParser((value: string, earlier: string[] | undefined) => [...(earlier ?? []), value]);
  return isNullable === true ? [option, new Option(`--no-${name}`, `remove the ${name}`)] : [option];
}

function shorten(description = ""): string {
  return description.replaceAll("\n", " ");
}

/** The name under which commander stores the value of an option. */
function toAttribute(name: string): string {
  return name.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
}
