import type { EntityManager } from "@mikro-orm/core";
import type { AppCode, Bundle } from "../ports/bundler.ts";
import type { DiscoveredProcedure } from "../ports/procedure-discovery.ts";
import { Procedure } from "../procedures/procedure.entity.ts";
import { BuildFailure } from "../shared/errors.ts";
import { loadArtifact } from "./artifacts.ts";
import { type DatabaseUse, readLiveDatabaseUse, requireSameDatabase } from "./database-use.ts";
import type { Attempt, StepDeps, StepsResult } from "./deployment-attempt.ts";
import { Deployment } from "./deployment.entity.ts";
import { provisionApp } from "./provision-app.ts";
import { recordRuntime } from "./record-runtime.ts";

/** Puts the bundle of an earlier deployment live again. */
export async function runRollback(deps: StepDeps, attempt: Attempt, targetId: string): Promise<StepsResult> {
  const { deployment, log } = attempt;
  const { appId } = deployment;
  const em = deps.em.fork();
  const target = await em.findOneOrFail(Deployment, { id: targetId });
  log.say(`rolling back to deployment ${target.number}`);
  const key = target.artifactKey ?? null;
  const bundle = key === null ? null : await loadArtifact(deps, { appId, key }, attempt);
  if (key === null || bundle === null)
    throw new BuildFailure(
      "user",
      `The bundle of deployment ${target.number} is not kept any more.`,
      "Deploy its commit again, or roll back to a newer deployment.",
    );
  const live = await readLiveDatabaseUse(deps, appId);
  requireSameDatabase(`Deployment ${target.number}`, bundle.code, live);
  await recordRuntime(deps, deployment, bundle.code.runtime);
  const newer = findNewerMigrations(bundle, live);
  const problems = newer.length === 0 ? [] : [`The SQL database keeps the later migrations ${newer.join(", ")}.`];
  for (const problem of problems) log.say(problem);
  problems.unshift(
    ...(await provisionApp(deps, attempt, { ...bundle, code: withoutMigration(bundle.code), migrations: [] })),
  );
  const procedures = await readProcedures(em, targetId);
  return { procedures, problems, artifactKey: key, framework: bundle.framework };
}

/** The procedures of a deployment with a kept bundle. */
export async function readProcedures(em: EntityManager, deploymentId: string): Promise<DiscoveredProcedure[]> {
  return (await em.find(Procedure, { deploymentId })).map(toDiscovered);
}

/** The database is newer than the code. */
function withoutMigration(code: AppCode): AppCode {
  if (code.runtime === "worker") return code;
  const { migration: _, ...server } = code.server;
  return { runtime: "node", server };
}

/** The migrations of the live deployment that a bundle does not have. */
function findNewerMigrations({ migrations }: Bundle, live: DatabaseUse | null): string[] {
  const known = new Set(migrations.map(({ name }) => name));
  return live?.migrationNames.filter((name) => !known.has(name)) ?? [];
}

function toDiscovered({
  name,
  kind,
  description,
  inputSchema,
  outputSchema,
  invocation,
}: Procedure): DiscoveredProcedure {
  return { name, kind, description, inputSchema, outputSchema: outputSchema ?? null, invocation };
}
