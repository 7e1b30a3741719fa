import { BuildFailure } from "../shared/errors.ts";
import { loadArtifact, storeArtifact } from "./artifacts.ts";
import { readLiveDatabaseUse, requireSameDatabase } from "./database-use.ts";
import { type Attempt, startStep, type StepDeps, type StepsResult } from "./deployment-attempt.ts";
import { Deployment } from "./deployment.entity.ts";
import { provisionApp } from "./provision-app.ts";
import { recordRuntime } from "./record-runtime.ts";
import { readProcedures } from "./run-rollback.ts";
import { copyChanges } from "./stored-customizations.ts";

/**
 * Puts the bundle of another environment's deployment live, with the variables and the data of this app. The app gets a
 * copy of the bundle, so it does not depend on the environment afterwards. Migrations are applied as after a build.
 */
export async function runPromotion(deps: StepDeps, attempt: Attempt, promotedId: string): Promise<StepsResult> {
  const { deployment, log, masks, workspace, signal } = attempt;
  const { appId, deploymentId } = deployment;
  const em = deps.em.fork();
  const promoted = await em.findOne(Deployment, { id: promotedId });
  if (!promoted?.artifactKey) throw bundleIsGone(deployment);
  const { appId: environmentId } = promoted;
  const name = `${promoted.number} of ${deployment.promotedFrom}`;
  log.say(`promoting deployment ${name}`);
  await masks.include(environmentId);
  // First, because the teardown of an environment removes its bundles before its procedures.
  const procedures = await readProcedures(em, promotedId);
  const bundle = await loadArtifact(deps, { appId: environmentId, key: promoted.artifactKey }, attempt);
  if (bundle === null) throw bundleIsGone(deployment);
  requireSameDatabase(`Deployment ${name}`, bundle.code, await readLiveDatabaseUse(deps, appId));
  await startStep(deps, attempt, "store");
  const artifactKey = await storeArtifact(deps, deployment, { bundle, workspace, signal });
  await copyChanges(em, { fromId: promotedId, deploymentId, appId });
  await recordRuntime(deps, deployment, bundle.code.runtime);
  const problems = await provisionApp(deps, attempt, bundle);
  const difference = await describeBuildVariables(deps, environmentId, deployment);
  if (difference !== null) {
    log.say(`warning: ${difference}`);
    problems.push(difference);
  }
  return { procedures, problems, artifactKey, framework: bundle.framework };
}

type Promotion = Attempt["deployment"];

function bundleIsGone({ promotedFrom }: Promotion): BuildFailure {
  return new BuildFailure(
    "user",
    `The bundle of ${promotedFrom} is not kept any more.`,
    "The environment was deleted. Deploy the commit to this app instead.",
  );
}

/** A build can write the values of its variables into the bundle. The values that the app has do not replace them. */
async function describeBuildVariables(
  { variables }: StepDeps,
  environmentId: string,
  { appId, promotedFrom }: Promotion,
): Promise<string | null> {
  const built = await variables.readForBuild(environmentId);
  const own = await variables.readForBuild(appId);
  const names = [...new Set([...Object.keys(built), ...Object.keys(own)])];
  const different = names.filter((name) => built[name] !== own[name]).toSorted();
  if (different.length === 0) return null;
  return `The bundle was built with the variables of ${promotedFrom}, where ${different.join(", ")} ${different.length === 1 ? "differs" : "differ"}. If the code contains ${different.length === 1 ? "its value" : "their values"}, deploy the commit to this app instead.`;
}
