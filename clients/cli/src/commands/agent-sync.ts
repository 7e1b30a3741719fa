import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { type FileSet, hashFiles } from "../agent-folder/file-set.ts";
import { type FolderState, readState, writeState } from "../agent-folder/folder-state.ts";
import { checkPaths, INSTRUCTIONS, LocalFolder, skillOfPart } from "../agent-folder/local-folder.ts";
import { RemoteAgent, type RemoteParts } from "../agent-folder/remote-agent.ts";
import { CliError } from "../cli-error.ts";
import { connect, type Context } from "../context.ts";
import { renderList } from "../render-value.ts";
import { resolveAgentId } from "../resolve-agent.ts";

type Status = "pulled" | "pushed" | "removed" | "changed here" | "changed on the service";

/** What a command does with a part, or why not. */
interface Change {
  part: string;
  status: Status;
}

/** A folder and the agent that it belongs to. */
interface Sync {
  context: Context;
  folder: LocalFolder;
  state: FolderState;
  local: Map<string, FileSet>;
  remote: RemoteAgent;
  parts: RemoteParts;
  isForced: boolean;
}

export function defineAgentSyncCommands(agents: Command, context: () => Context): void {
  const agent = "the id or the name of the agent, or the name of its server";
  const folder = "the folder with AGENTS.md and skills; by default the current one";
  agents
    .command("pull")
    .summary("Write the instructions and skills of an agent into a folder")
    .description(
      "Writes AGENTS.md and the skills that are enabled for the agent. What only the folder has changed stays. If both sides have changed the same part, nothing is written.",
    )
    .argument("<agent>", agent)
    .argument("[folder]", folder, ".")
    .option("--force", "replace what the folder has changed")
    .action((name: string, target: string, options: SyncOptions) => sync(context(), name, target, options, pull));
  agents
    .command("push")
    .summary("Store the instructions and skills of a folder in an agent")
    .description(
      "Stores AGENTS.md and the folders in skills. What only the service has changed stays. If both sides have changed the same part, nothing is stored.",
    )
    .argument("<agent>", agent)
    .argument("[folder]", folder, ".")
    .option("--force", "replace what the service has changed")
    .action((name: string, target: string, options: SyncOptions) => sync(context(), name, target, options, push));
}

interface SyncOptions {
  force?: boolean;
}

async function sync(
  context: Context,
  agent: string,
  target: string,
  { force }: SyncOptions,
  run: (sync: Sync) => Promise<Change[]>,
): Promise<void> {
  const { output, signal, session } = context;
  const root = path.resolve(target);
  const isForced = force === true;
  const client = await connect(context, "Reading the agent …");
  const id = await resolveAgentId(client, agent, signal);
  const folder = new LocalFolder(root);
  const state = await openState(root, { service: await session.url(), agent_id: id, parts: {} }, isForced);
  const remote = new RemoteAgent(client, id, signal);
  const [local, parts] = [await folder.read(), await remote.read()];
  const changes = await run({ context, folder, state, local, remote, parts, isForced });
  const shown = changes.map((change) => ({ ...change }));
  output.value({ agent_id: id, folder: root, changes }, (width) => renderList("changes", shown, width));
  if (!parts.hasSkills)
    output.message("The skills of this agent are in its OpenClaw gateway, so only AGENTS.md is compared.");
  if (changes.length === 0) output.message("The folder and the agent are the same.");
  if (changes.some(({ status }) => status === "changed on the service"))
    output.message("Get what has changed on the service with: svc agents pull");
  if (changes.some(({ status }) => status === "changed here") && run === pull)
    output.message("Store what has changed here with: svc agents push");
}

/** @throws {CliError} for the folder of another agent */
async function openState(root: string, empty: FolderState, isForced: boolean): Promise<FolderState> {
  const stored = await readState(root);
  if (stored === null) return empty;
  if (stored.agent_id === empty.agent_id) return stored;
  if (isForced) return empty;
  throw new CliError(
    `${root} belongs to the agent ${stored.agent_id} of ${stored.service}. Use another folder, or replace it with --force.`,
  );
}

/** How a part differs from what the folder and the service last had in common. */
interface Comparison {
  part: string;
  /** Of the folder; `null` without the part. */
  files: FileSet | null;
  /** Of the agent; `null` without the part. */
  version: string | null;
  isChangedHere: boolean;
  isChangedThere: boolean;
  isSame: boolean;
}

async function compare({ state, local, remote, parts }: Sync, part: string): Promise<Comparison> {
  const before = state.parts[part];
  const files = local.get(part) ?? null;
  const version = parts.versions.get(part) ?? null;
  const isChangedHere = (files === null ? undefined : hashFiles(files)) !== before?.local;
  const isChangedThere = (version ?? undefined) !== before?.version;
  const isMissing = files === null || version === null;
  const isSame = isMissing
    ? files === null && version === null
    : (!isChangedHere && !isChangedThere) ||
      (isChangedHere && isChangedThere && hashFiles(await remote.files(part)) === hashFiles(files));
  return { part, files, version, isChangedHere, isChangedThere, isSame };
}

async function compareAll(sync: Sync): Promise<Comparison[]> {
  const { state, local, parts } = sync;
  const names = new Set([...local.keys(), ...parts.versions.keys(), ...Object.keys(state.parts)]);
  const comparable = [...names].filter((part) => parts.hasSkills || skillOfPart(part) === null);
  const compared: Comparison[] = [];
  for (const part of comparable.toSorted()) compared.push(await compare(sync, part));
  return compared;
}

async function pull(sync: Sync): Promise<Change[]> {
  const { folder, state, remote, isForced, context } = sync;
  const compared = await compareAll(sync);
  const differing = compared.filter(({ isSame }) => !isSame);
  const conflicts = differing.filter(({ isChangedHere, isChangedThere }) => isChangedHere && isChangedThere);
  if (!isForced) checkConflicts(conflicts, "svc agents pull", "The folder was not changed");
  // What the service never had stays, also with --force.
  const isReplaced = ({ part, version }: Comparison) => isForced && (version !== null || part in state.parts);
  const wanted = differing.filter((comparison) => comparison.isChangedThere || isReplaced(comparison));
  const fetched = new Map<string, FileSet | null>();
  for (const { part, version } of wanted) fetched.set(part, version === null ? null : await remote.files(part));
  for (const [part, files] of fetched) checkPaths(part, files);
  // From here on nothing waits for the service, so an interruption changes all parts or none.
  context.signal.throwIfAborted();
  await mkdir(folder.root, { recursive: true }).catch(() => undefined);
  for (const [part, files] of fetched) await folder.write(part, files);
  for (const { part, files, version, isSame } of compared) {
    const now = fetched.has(part) ? fetched.get(part) : isSame ? files : undefined;
    if (now === null || (isSame && version === null)) delete state.parts[part];
    else if (now !== undefined && version !== null) state.parts[part] = { version, local: hashFiles(now) };
  }
  await writeState(folder.root, state);
  return differing.map(({ part, version }) => ({
    part,
    status: !fetched.has(part) ? "changed here" : version === null ? "removed" : "pulled",
  }));
}

async function push(sync: Sync): Promise<Change[]> {
  const { folder, state, remote, parts, isForced, context } = sync;
  const compared = await compareAll(sync);
  const differing = compared.filter(({ isSame }) => !isSame);
  const conflicts: Comparison[] = [];
  for (const comparison of differing)
    if (comparison.isChangedThere ? comparison.isChangedHere : await replacesOtherSkill(sync, comparison))
      conflicts.push(comparison);
  if (!isForced) checkConflicts(conflicts, "svc agents push", "The agent was not changed");
  for (const { part, files, version, isSame } of compared)
    if (isSame && files !== null && version !== null) state.parts[part] = { version, local: hashFiles(files) };
  // Before the agent changes, because a state that cannot be written makes the next command see a conflict.
  await writeState(folder.root, state);
  const changes: Change[] = [];
  for (const { part, files, isChangedHere } of differing) {
    if (files === null || (!isChangedHere && !isForced)) {
      changes.push({ part, status: files === null && isChangedHere ? "changed here" : "changed on the service" });
      if (files === null && isChangedHere) context.output.message(explainRemoved(part, state.agent_id));
      continue;
    }
    context.output.progress(`Storing ${part} …`);
    const skill = skillOfPart(part);
    const expected = skill === null ? parts.instructionsHash : (parts.skills.get(skill) ?? null);
    const version = await remote.store(part, files, expected);
    state.parts[part] = { version, local: hashFiles(files) };
    // After each part, so that an interruption later does not make this one look like a conflict.
    await writeState(folder.root, state);
    changes.push({ part, status: "pushed" });
  }
  return changes;
}

/** Whether the organization has another skill of the name, which is disabled for the agent and maybe enabled for others. */
async function replacesOtherSkill({ parts, state, remote }: Sync, { part, files }: Comparison): Promise<boolean> {
  const isOther = parts.skills.has(skillOfPart(part) ?? "") && state.parts[part] === undefined && files !== null;
  return isOther && hashFiles(await remote.files(part)) !== hashFiles(files);
}

/** @throws {CliError} if there are conflicts */
function checkConflicts(conflicts: readonly { part: string }[], command: string, effect: string): void {
  if (conflicts.length === 0) return;
  const names = conflicts.map(({ part }) => part).join(", ");
  const pulls = "To compare them, pull into another folder.";
  const advice = command.endsWith("push") ? "replace the agent's with --force" : "replace the folder's with --force";
  throw new CliError(`${effect}: the folder and the service have both changed ${names}. ${pulls} Then ${advice}.`);
}

/** A skill belongs to the organization and maybe to other agents, so a push removes nothing. */
function explainRemoved(part: string, agentId: string): string {
  const skill = skillOfPart(part);
  return skill === null
    ? `The folder has no ${INSTRUCTIONS}. The agent keeps its instructions.`
    : `The folder has no ${part}. The agent keeps it. To disable it: svc agent-skills set ${agentId} ${skill} --no-enabled`;
}
