import { BuildFailure } from "../../../../domain/shared/errors.ts";
import type { PackageRegistry, ServedPackages } from "../../../ports/package-registry.ts";
import { type BuildContext, say } from "../build-step.ts";
import { NotCompiledForNode } from "../failures/explain-scripts.ts";
import type { Project } from "../read-project.ts";
import { olderNodes, selectOlderNode, type SelectedNode } from "../select-node.ts";
import { runPackageScripts, type ScriptsRun } from "./run-install-scripts.ts";

/** The run of all scripts, and the version of Node.js in which they and the following steps run; `null` for that of the context. */
export interface CompiledPackages extends ScriptsRun {
  node: SelectedNode | null;
}

/**
 * Runs the install scripts of packages. If a package does not compile for the Node.js of the service, all of them run again in
 * the newest older version in which it compiles, unless the project does not admit it.
 *
 * @throws {BuildFailure} as `runPackageScripts` does
 */
export async function compilePackages(
  context: BuildContext,
  packages: PackageRegistry,
  project: Project,
  served: ServedPackages,
): Promise<CompiledPackages> {
  const run = await tryScripts(context, packages, project, served);
  if (!(run instanceof NotCompiledForNode)) return { ...run, node: null };
  const tried: number[] = [];
  for (const major of await olderNodes(context, project.location)) {
    const node = await selectOlderNode(context, packages, major);
    if (node === null) continue;
    say(context, `${run.message} Compiling with Node.js ${major}.`);
    const older = { ...context, env: { ...context.env, ...node.env }, nodeVersion: node.version };
    const next = await tryScripts(older, packages, project, served);
    if (!(next instanceof NotCompiledForNode)) return { ...next, node };
    tried.push(major);
  }
  if (tried.length === 0) throw run;
  throw new BuildFailure(
    "user",
    run.message,
    `It does not compile with Node.js ${tried.join(", ")} either. Update the package to a version that supports a newer Node.js or has a prebuilt program as an npm package, and deploy again. The build log has the last lines of the compiler.`,
  );
}

function tryScripts(...run: Parameters<typeof runPackageScripts>): Promise<ScriptsRun | NotCompiledForNode> {
  return runPackageScripts(...run).catch((error: unknown) => {
    if (error instanceof NotCompiledForNode) return error;
    throw error;
  });
}
