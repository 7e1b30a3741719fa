import type { EntityManager } from "@mikro-orm/core";
import type { Db } from "../database-types.ts";
import type { Plans } from "../plans/plans.ts";
import type { AppBuilder, TokenUsage } from "../ports/app-builder-agent.ts";
import type { Runtime } from "../ports/bundler.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { BuildFailure } from "../shared/errors.ts";
import { countTokens, remainingBuilderTokens } from "../usage/builder-tokens.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { type TrialDeps, Trials } from "./customization-trials.ts";
import { Customization } from "./customization.entity.ts";
import { applyChanges, compareFolders, type FileChange, formatFile, joinChanges } from "./source-changes.ts";
import { findLiveChanges, readStoredChanges, type StoredChanges } from "./stored-customizations.ts";

export interface CustomizeDeps extends TrialDeps {
  em: EntityManager;
  db: Db;
  plans: Plans;
  /** `null` when no app builder agent is configured. */
  appBuilder: AppBuilder | null;
}

export interface CustomizeRequest {
  deployment: ClaimedDeployment;
  /** The newest instructions of the app's owner. */
  instructions: string;
  workspace: Workspace;
  /** Writes a line of the service to the log of the deployment. */
  say(line: string): void;
  /** Receives the output of builds. */
  onOutput(chunk: Uint8Array): void;
  signal: AbortSignal;
}

/**
 * Changes the checked-out source as the app's owner wants it. Changes of the live deployment are applied first. The agent
 * is called only for new instructions, and for changes that do not fit the source any more. What changed is stored before
 * this returns, so an attempt after a crash applies it without the agent.
 *
 * @throws {BuildFailure} `user` when the agent does not succeed within its bounds, or is not configured
 */
export async function customizeSource(deps: CustomizeDeps, request: CustomizeRequest): Promise<void> {
  const { deployment, instructions, workspace, say } = request;
  const em = deps.em.fork();
  const own = await readStoredChanges(em, { id: deployment.deploymentId, number: deployment.number });
  const base = own ?? (await findLiveChanges(em, deployment.appId));
  const { applied, conflicts } = base === null ? NO_CHANGES : await applyChanges(workspace, base.changes);
  if (base !== null) say(describeApplied(base, applied, conflicts));
  const isKnown = base !== null && (own !== null || base.instructions.at(-1) === instructions);
  const earlier = base?.instructions ?? [];
  if (isKnown && conflicts.length === 0) {
    // An earlier attempt of this deployment has stored them already.
    if (own === null) await store(deps, deployment, { instructions: [...earlier], changes: applied });
    return;
  }
  const all = isKnown ? [...earlier] : [...earlier, instructions];
  await callAgent(deps, request, { instructions: all, applied, conflicts });
}

const NO_CHANGES = { applied: [] as FileChange[], conflicts: [] as FileChange[] };

function describeApplied({ number }: StoredChanges, applied: FileChange[], conflicts: FileChange[]): string {
  const done = `applied the changes of deployment ${number} to ${countFiles(applied)}`;
  return conflicts.length === 0 ? done : `${done}; those of ${countFiles(conflicts)} do not fit this commit`;
}

function countFiles({ length }: readonly FileChange[]): string {
  return `${length} ${length === 1 ? "file" : "files"}`;
}

interface AgentTask {
  instructions: string[];
  applied: FileChange[];
  conflicts: FileChange[];
}

async function callAgent(deps: CustomizeDeps, request: CustomizeRequest, task: AgentTask): Promise<void> {
  const { appBuilder, db } = deps;
  const { deployment, workspace, say, signal } = request;
  if (appBuilder === null)
    throw new BuildFailure(
      "user",
      "This deployment needs the app builder agent, and the service has no language model.",
      "Ask the operator to configure one (MODEL_PROVIDER), or deploy again with customization null.",
    );
  const maxTokens = await remainingBuilderTokens(deps, deployment.orgId);
  const startedAt = performance.now();
  const used: TokenUsage = { inputTokens: 0, outputTokens: 0 };
  const directory = await workspace.copyFolder(workspace.sourceDirectory, "customized");
  const trials = new Trials(deps, { ...request, directory });
  const { summary, steps } = await appBuilder.customize({
    sourceDirectory: directory,
    instructions: task.instructions,
    conflicts: await Promise.all(task.conflicts.map(formatFile)),
    runtime: deployment.requestedRuntime ?? (await readRuntime(db, deployment.appId)),
    maxTokens,
    tryOut: () => trials.run(),
    runScript: (name) => trials.runScript(name),
    addDependency: (dependency) => trials.addDependency(dependency),
    say,
    async onUsage(usage) {
      used.inputTokens += usage.inputTokens;
      used.outputTokens += usage.outputTokens;
      await countTokens(db, deployment.orgId, usage);
    },
    signal,
  });
  signal.throwIfAborted();
  const made = await compareFolders(workspace, workspace.sourceDirectory, directory);
  for (const { path, after } of made) await workspace.writeSourceText(path, after);
  await workspace.removeFolder(directory);
  if (made.length === 0) throw changedNothing(summary);
  const changes = joinChanges(task.applied, made);
  const durationMs = Math.round(performance.now() - startedAt);
  await store(deps, deployment, { instructions: task.instructions, changes, summary, steps, ...used, durationMs });
  say(`the app builder agent changed ${countFiles(changes)}`);
  say(`the app builder agent says: ${summary}`);
}

/** The runtime of the live version, or of the last one that was built. */
async function readRuntime(db: Db, appId: string): Promise<Runtime | null> {
  const row = await db.selectFrom("apps").select("runtime").where("id", "=", appId).executeTakeFirst();
  return row?.runtime ?? null;
}

function changedNothing(summary: string): BuildFailure {
  return new BuildFailure(
    "user",
    `The app builder agent changed nothing.${summary === "" ? "" : ` It said: "${summary}"`}`,
    "Describe what the app should do, and deploy again.",
  );
}

type NewCustomization = Pick<Customization, "instructions"> &
  Partial<Pick<Customization, "summary" | "steps" | "inputTokens" | "outputTokens" | "durationMs">> & {
    changes: FileChange[];
  };

async function store(
  { em }: CustomizeDeps,
  { deploymentId, appId }: ClaimedDeployment,
  { changes, ...customization }: NewCustomization,
): Promise<void> {
  await em.fork().upsert(Customization, {
    deploymentId,
    appId,
    ...{ summary: null, steps: 0, inputTokens: 0, outputTokens: 0, durationMs: 0, createdAt: new Date() },
    ...customization,
    changes: JSON.stringify(changes),
  });
}
