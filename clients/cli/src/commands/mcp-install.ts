import { readFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Argument, type Command, Option } from "commander";
import { installLinks } from "../../../../domain/agents/install-links.ts";
import { MCP_CLIENTS, type McpClientName, type NextStep } from "../../../../domain/agents/mcp-clients.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { findMcpClient, type McpClient, readServiceUrl } from "../mcp-clients.ts";
import { findOwnProgram } from "../own-program.ts";
import { replaceFile } from "../replace-file.ts";
import {
  explainSettingsError,
  isObject,
  readPath,
  type Settings,
  SettingsError,
} from "../settings-files/settings-text.ts";

interface InstallOptions {
  transport: "http" | "stdio";
  name: string;
  tokenEnv?: string;
  project?: boolean;
  print?: boolean;
  force?: boolean;
}

type Status = "created" | "updated" | "unchanged";

const DONE: Readonly<Record<Status, (name: string, file: string) => string>> = {
  created: (name, file) => `Added ${name} to ${file}`,
  updated: (name, file) => `Updated ${name} in ${file}`,
  unchanged: (name, file) => `${file} has ${name} already.`,
};

export function defineMcpInstallCommand(mcp: Command, context: () => Context): void {
  mcp
    .command("install")
    .summary("Add the tool gateway to an MCP client")
    .description(
      "Adds the tool gateway to the settings of an MCP client, and leaves everything else in the file as it is. The client signs in when it connects, so the file contains no token.",
    )
    .addArgument(new Argument("<client>", "the client").choices(Object.keys(MCP_CLIENTS)))
    .addOption(
      new Option("--transport <transport>", "http: the client connects itself; stdio: it starts svc mcp")
        .choices(["http", "stdio"])
        .default("http"),
    )
    .option("--name <name>", "the name of the server in the client", "service")
    .option("--token-env <variable>", "an environment variable of the client with a personal access token")
    .option("--project", "change the settings of the current folder instead of the user's")
    .option("--print", "print what to add, and change nothing")
    .option("--force", "replace another server of the same name")
    .action((client: McpClientName, options: InstallOptions) => install(context(), client, options));
}

async function install(context: Context, clientName: McpClientName, options: InstallOptions): Promise<void> {
  const { session, environment, output } = context;
  const client = findMcpClient(clientName, environment.folders);
  checkOptions(client, options);
  if (session.organizationOption !== undefined && options.transport === "http")
    throw usageError("The organization is selected at the sign-in. Omit --org, or add --transport stdio.");
  const url = await session.url();
  const entry = await createEntry(client, url, context, options);
  const file = await selectFile(client, options.project === true);
  const location = [...client.section, options.name];
  const links = installLinks(`${url}/mcp`, options.name);
  const link = options.transport === "http" && clientName in links ? links[clientName as keyof typeof links] : null;
  const result = { client: clientName, file, name: options.name, entry, install_link: link };
  if (options.print === true) {
    const snippet = client.format.render(location, entry).trimEnd();
    output.value({ ...result, snippet }, () => snippet);
    output.message(`Add this to ${file}`);
    if (link !== null) output.message(`Or open this link: ${link}`);
    return;
  }
  const status = await writeEntry(client, file, location, entry, options.force === true);
  output.value({ ...result, status }, () => "");
  output.message(DONE[status](options.name, file));
  if (options.transport === "http" && options.tokenEnv === undefined)
    output.message(describe(client.signIn(options.name)));
}

function describe({ text, command }: NextStep): string {
  return command === undefined ? text : `${text}: ${command}`;
}

function checkOptions({ title, projectFiles, readsVariables }: McpClient, options: InstallOptions): void {
  const { name, tokenEnv, transport, project } = options;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw usageError("--name: must have 1 to 64 letters, digits, underscores or hyphens.");
  if (project === true && projectFiles.length === 0)
    throw usageError(`${title} has no settings of a project. Omit --project.`);
  if (tokenEnv === undefined) return;
  if (!/^[A-Za-z_]\w*$/.test(tokenEnv))
    throw usageError("--token-env: must be the name of an environment variable, not the token itself.");
  if (transport === "stdio") throw usageError("With --transport stdio, svc reads SVC_TOKEN itself. Omit --token-env.");
  if (!readsVariables) throw usageError(`${title} reads no environment variables there. Omit --token-env to sign in.`);
}

async function createEntry(
  client: McpClient,
  url: string,
  { environment, session }: Context,
  { transport, tokenEnv }: InstallOptions,
): Promise<Settings> {
  if (transport === "http")
    return client.http(`${url}/mcp`, tokenEnv === undefined ? undefined : { variable: tokenEnv });
  const [command, ...args] = await findOwnProgram(environment);
  const organization = session.organizationOption === undefined ? [] : ["--org", session.organizationOption];
  return client.stdio(command, [...args, "mcp", "--service", url, ...organization]);
}

async function selectFile(client: McpClient, isProject: boolean): Promise<string> {
  const files = isProject ? client.projectFiles.map((file) => path.resolve(file)) : client.userFiles;
  for (const file of files) if ((await readText(file)) !== null) return file;
  return files[0] ?? "";
}

async function writeEntry(
  { format }: McpClient,
  file: string,
  location: readonly string[],
  entry: Settings,
  isForced: boolean,
): Promise<Status> {
  const text = await readText(file);
  try {
    const existing = readPath(format.parse(text ?? ""), location);
    const value = isForced ? entry : mergeEntry(existing, entry, file, location);
    if (isDeepStrictEqual(toPlain(existing), value)) return "unchanged";
    const changed = text === null ? format.render(location, value) : format.set(text, location, value);
    await replaceFile(file, changed, { advice: "With --print, the command only shows what to add." });
    return existing === undefined ? "created" : "updated";
  } catch (error) {
    throw error instanceof SettingsError ? explainSettingsError(file, error) : error;
  }
}

/** Keeps what the user has added to the entry of this service. @throws {CliError} for the entry of another server */
function mergeEntry(existing: unknown, entry: Settings, file: string, location: readonly string[]): Settings {
  if (existing === undefined) return entry;
  if (!isObject(existing) || readServiceUrl(existing) !== readServiceUrl(entry))
    throw new CliError(
      `${file} has another server "${location.at(-1) ?? ""}". Choose another name with --name, or replace it with --force.`,
    );
  const isSameTransport = "command" in existing === "command" in entry;
  return isSameTransport ? { ...(toPlain(existing) as Settings), ...entry } : entry;
}

/** Without the prototypes of a parser, so that values can be compared. */
function toPlain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

/** `null` when there is no such file. */
async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CliError(`Cannot read ${file}: ${code ?? message}. Correct its permissions.`, 1, { cause: error });
  }
}
