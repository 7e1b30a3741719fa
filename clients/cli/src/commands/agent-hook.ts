import { spawn } from "node:child_process";
import { type FileHandle, open, mkdir, readFile, stat, truncate } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { CliError, usageError } from "../cli-error.ts";
import { connect, type Context, readStdin } from "../context.ts";
import { findOwnProgram } from "../own-program.ts";
import { replaceFile } from "../replace-file.ts";
import { resolveAgentId } from "../resolve-agent.ts";
import { JSONC, setListItem } from "../settings-files/jsonc-settings.ts";
import { explainSettingsError, isObject, readPath, SettingsError } from "../settings-files/settings-text.ts";

const EVENT = ["hooks", "SessionEnd"] as const;
/** The log of imports is emptied beyond this size. */
const MAX_LOG_BYTES = 256 * 1024;

interface HookOptions {
  project?: boolean;
  print?: boolean;
}

export function defineAgentHookCommand(agents: Command, context: () => Context): void {
  const hook = agents.command("hook").summary("Import the sessions of a program when they end").helpCommand(false);
  hook
    .command("claude-code")
    .summary("Import each session of Claude Code when it ends")
    .description(
      "Adds a hook to the settings of Claude Code. When a session ends, the hook imports its transcript into a session of the agent.",
    )
    .argument("<agent>", "the id or the name of the agent, or the name of its server")
    .option("--project", "change .claude/settings.json in the current folder instead of the user's settings")
    .option("--print", "print what to add, and change nothing")
    .action((agent: string, options: HookOptions) => installHook(context(), agent, options));
  hook
    .command("run", { hidden: true })
    .argument("<agent>", "the id of the agent")
    .action((agent: string) => runHook(context(), agent));
}

async function installHook(context: Context, agent: string, { project, print }: HookOptions): Promise<void> {
  const { environment, output, session, signal } = context;
  const client = await connect(context, "Reading the agents …");
  const id = await resolveAgentId(client, agent, signal);
  await client.agents.get({ id }, { signal });
  const program = await findOwnProgram(environment);
  const organization = await session.organization();
  const options = ["--service", await session.url(), ...(organization === undefined ? [] : ["--org", organization])];
  const command = [...program, "agents", "hook", "run", id, ...options].map(quote).join(" ");
  const folder = project === true ? path.resolve(".claude") : environment.folders.claudeSettings;
  const file = path.join(folder, "settings.json");
  const group = { hooks: [{ type: "command", command, timeout: 30 }] };
  if (print === true) {
    output.value({ file, command }, () => JSON.stringify({ hooks: { SessionEnd: [group] } }, null, 2));
    output.message(`Add this to ${file}`);
    return;
  }
  const status = await writeHook(file, id, command, group);
  output.value({ file, command, status }, () => "");
  output.message(status === "unchanged" ? `${file} has the hook already.` : `Added the hook to ${file}`);
  if (session.hasOwnToken) output.message("The hook needs SVC_TOKEN in the environment of Claude Code, or svc login.");
  output.message("It imports each session that ends from now on. Import earlier ones with: svc sessions import");
}

async function writeHook(file: string, id: string, command: string, group: object): Promise<"added" | "unchanged"> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return "";
    throw new CliError(`Cannot read ${file}: ${error.code ?? error.message}. Correct its permissions.`);
  });
  try {
    const existing = findHook(text, id);
    if (existing?.command === command) return "unchanged";
    const changed =
      existing === null
        ? setListItem(text, [...EVENT, -1], group)
        : setListItem(text, [...existing.path, "command"], command);
    await replaceFile(file, changed, { advice: "With --print, the command only shows what to add." });
    return "added";
  } catch (error) {
    throw error instanceof SettingsError ? explainSettingsError(file, error) : error;
  }
}

interface FoundHook {
  path: (string | number)[];
  command: string;
}

/** Finds the hook of an agent. @throws {SettingsError} when the settings have something else than hooks there */
function findHook(text: string, id: string): FoundHook | null {
  const groups = readPath(JSONC.parse(text), EVENT) ?? [];
  if (!Array.isArray(groups)) throw new SettingsError(`"${EVENT.join(".")}" is not a list`);
  for (const [at, group] of groups.entries()) {
    const hooks: unknown = isObject(group) ? group["hooks"] : null;
    for (const [index, hook] of (Array.isArray(hooks) ? hooks : []).entries()) {
      const command: unknown = isObject(hook) ? hook["command"] : null;
      if (typeof command === "string" && command.includes(` agents hook run ${id}`))
        return { path: [...EVENT, at, "hooks", index], command };
    }
  }
  return null;
}

/** Quotes a word for a POSIX shell, which Claude Code starts hooks with. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Claude Code kills hooks soon after a session has ended, so another process imports the transcript. */
async function runHook(context: Context, agent: string): Promise<void> {
  const { environment, session, output } = context;
  const transcript = readTranscriptPath(await readStdin(context, "The event"));
  const organization = await session.organization();
  const options = ["--service", await session.url(), ...(organization === undefined ? [] : ["--org", organization])];
  const args = [process.argv[1] ?? "", "sessions", "import", agent, transcript, "--format", "claude-code", ...options];
  // The transcript matters more than the log, as on a full disk or in a home folder that is read-only.
  const log = await openLog(environment.configFolder).catch((error: NodeJS.ErrnoException) => {
    output.message(`There is no log of the import: ${error.message}`);
    return null;
  });
  try {
    await log?.write(`${new Date().toISOString()} ${transcript}\n`).catch(() => undefined);
    const stdout = log?.fd ?? "ignore";
    const child = spawn(process.execPath, args, { detached: true, stdio: ["ignore", stdout, stdout] });
    await new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    child.unref();
  } finally {
    await log?.close();
  }
}

async function openLog(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, "hook.log");
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size > MAX_LOG_BYTES) await truncate(file);
  return open(file, "a", 0o600);
}

function readTranscriptPath(event: string): string {
  try {
    const { transcript_path: file } = JSON.parse(event) as { transcript_path?: unknown };
    if (typeof file === "string" && file.endsWith(".jsonl") && path.isAbsolute(file)) return file;
  } catch {
    // The error below says it.
  }
  throw usageError("Standard input must be an event of a hook of Claude Code, with transcript_path.");
}
