import type { EntityManager } from "@mikro-orm/core";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { Customization } from "./customization.entity.ts";
import { getDeployment } from "./list-deployments.ts";
import { type FileChange, formatPatch } from "./source-changes.ts";

/** What a deployment changes in the source of its repository. Texts of the agent and the patch are untrusted. */
export interface DeploymentChanges {
  /** The instructions that the changes follow, oldest first. */
  instructions: string[];
  /** What the agent said that it did; `null` when the deployment only applied the changes of an earlier one. */
  summary: string | null;
  files: { path: string; change: "added" | "changed" | "deleted" }[];
  /** A unified diff against the commit of the deployment. */
  patch: string;
  /** How many times the model responded. */
  steps: number;
  input_tokens: number;
  output_tokens: number;
  duration_ms: number;
}

/**
 * Returns what a deployment changed in the source, as soon as the app builder agent has finished.
 *
 * @throws {ServiceError} `not_found` when the organization has no such deployment, or the deployment has no changes
 */
export async function getChanges(
  deps: { em: EntityManager; db: Db },
  caller: Caller,
  request: { id: string; number: number },
): Promise<DeploymentChanges> {
  const { id: deploymentId } = await getDeployment(deps, caller, request);
  const stored = await deps.em.fork().findOne(Customization, { deploymentId });
  if (stored === null)
    throw new ServiceError("not_found", `Deployment ${request.number} has no changes by the app builder agent`);
  const changes = JSON.parse(stored.changes) as FileChange[];
  return {
    instructions: stored.instructions,
    summary: stored.summary ?? null,
    files: changes.map(({ path, before, after }) => ({ path, change: kindOf(before, after) })),
    patch: await formatPatch(changes),
    steps: stored.steps,
    input_tokens: stored.inputTokens,
    output_tokens: stored.outputTokens,
    duration_ms: stored.durationMs,
  };
}

function kindOf(before: string | null, after: string | null): "added" | "changed" | "deleted" {
  if (before === null) return "added";
  return after === null ? "deleted" : "changed";
}
