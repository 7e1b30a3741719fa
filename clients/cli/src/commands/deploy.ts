import { type Command, Option } from "commander";
import type { Client, DeploymentProgress, Input, Output as ProcedureOutput } from "../../../sdk/src/client.ts";
import { Interrupted, usageError } from "../cli-error.ts";
import { connect, type Context } from "../context.ts";
import { addVariableOptions, readVariables, type VariableOptions } from "../deploy-variables.ts";
import type { AppSettings } from "../deploy-folder/deploy-folder.ts";
import { resolveSource } from "../deploy-folder/deploy-source.ts";
import { showProgress } from "../show-deployment.ts";
import { resolveAppId } from "../resolve-app.ts";

const RUNTIMES = ["worker", "node"] as const;

interface DeployOptions extends VariableOptions {
  branch?: string;
  customize?: string;
  rootDirectory?: string;
  host?: string;
  buildNetwork?: boolean;
  runtime?: (typeof RUNTIMES)[number];
  name?: string;
  new?: boolean;
  includeSecrets?: boolean;
  watch?: boolean;
  wait: boolean;
}

type AcceptedApp = ProcedureOutput<"apps", "deploy">;

export function defineDeployCommand(program: Command, context: () => Context): void {
  const command = program
    .command("deploy")
    .summary("Deploy a folder or a repository")
    .description(
      "Deploys an app, shows its build, and prints its URL. A folder is deployed as the same app from the second time on. A repository becomes a new app each time; to deploy its app again, use: svc deployments redeploy",
    )
    .argument(
      "<source>",
      "a folder, such as . or ./app, or a repository as owner/name, such as examples/guestbook, or its URL at the git host",
    )
    .option("--name <name>", "the name of a new app; by default that of the folder or the repository")
    .option("--new", "deploy a folder as a new app, although it has one")
    .option("--watch", "deploy a folder again after each change")
    .option("--include-secrets", "upload .env and .dev.vars files of a folder too")
    .option("--branch <branch>", "the branch; by default main, or the default branch of the repository")
    .option("--customize <text>", "instructions for the app builder agent")
    .option("--root-directory <folder>", "the folder of the app in the source")
    .option("--host <host>", "the git host, if more than one has the repository")
    .option("--build-network", "let the build connect to public addresses")
    .addOption(
      new Option("--runtime <runtime>", "how the app runs; by default the build detects it").choices(RUNTIMES),
    );
  addVariableOptions(command)
    .option("--no-wait", "return when the deployment has started")
    .action((source: string, options: DeployOptions) => deploy(context(), source, options));
  program
    .command("customize")
    .summary("Let the app builder agent change an app")
    .description(
      "Deploys an app again with changes by the app builder agent, on top of those that are live. To see what it changed, use: svc apps diff. To go back to the plain repository: svc deployments redeploy APP --no-customization",
    )
    .argument("<app>", "the slug, the name or the id of the app")
    .argument("<instructions>", "what to change, in your own words")
    .option("--no-wait", "return when the deployment has started")
    .action((app: string, instructions: string, options: { wait: boolean }) =>
      customize(context(), app, instructions, options),
    );
}

async function customize(
  context: Context,
  app: string,
  customization: string,
  { wait }: { wait: boolean },
): Promise<void> {
  const { output, signal } = context;
  const client = await connect(context, `Reading ${app} …`);
  const id = await resolveAppId(client, app, signal);
  const { number } = await client.deployments.redeploy({ id, customization }, { signal });
  if (!wait) {
    output.value({ number }, () => String(number));
    output.message(`The deployment has started. Follow it with: svc apps logs -f ${app}`);
    return;
  }
  const onProgress = (progress: DeploymentProgress): void => showProgress(output, progress);
  output.value(
    await client.waitForDeployment({ id, number }, { signal, onProgress }),
    () => `Deployment ${number} is live.`,
  );
}

async function deploy(context: Context, argument: string, options: DeployOptions): Promise<void> {
  const { source, note } = await resolveSource(argument);
  if (note !== null) context.output.message(note);
  if (source.kind === "repository") return deployRepository(context, source.repository, options);
  if (options.branch !== undefined) throw usageError("--branch is for a repository.");
  if (options.host !== undefined) throw usageError("--host is for a repository.");
  if (options.watch === true && !options.wait) throw usageError("--watch waits for each deployment. Omit --no-wait.");
  // Loaded here, because few commands need it.
  const { deployFolder } = await import("../deploy-folder/deploy-folder.ts");
  await deployFolder(context, {
    folder: source.folder,
    settings: await readSettings(context, options),
    isNew: options.new === true,
    includesSecrets: options.includeSecrets === true,
    waits: options.wait,
    watches: options.watch === true,
  });
}

async function readSettings(context: Context, options: DeployOptions): Promise<AppSettings> {
  const variables = await readVariables(context, options);
  return {
    ...(options.name !== undefined && { name: options.name }),
    ...(options.customize !== undefined && { customization: options.customize }),
    ...(options.rootDirectory !== undefined && { root_directory: options.rootDirectory }),
    ...(options.buildNetwork === true && { build_network: true }),
    ...(options.runtime !== undefined && { runtime: options.runtime }),
    ...(variables.length > 0 && { variables }),
  };
}

/** Options that only a folder has. */
const FOLDER_OPTIONS = { new: "--new", watch: "--watch", includeSecrets: "--include-secrets" } as const;

async function deployRepository(context: Context, repository: string, options: DeployOptions): Promise<void> {
  const { output, signal } = context;
  for (const [name, flag] of Object.entries(FOLDER_OPTIONS))
    if (options[name as keyof typeof FOLDER_OPTIONS] === true) throw usageError(`${flag} is for a folder.`);
  const request: Input<"apps", "deploy"> = {
    repo: repository,
    ...(options.branch !== undefined && { branch: options.branch }),
    ...(options.host !== undefined && { host: options.host }),
    ...(await readSettings(context, options)),
  };
  const client = await connect(context, `Deploying ${repository} …`);
  if (!options.wait) {
    const app = await client.apps.deploy(request, { signal });
    output.value(app, () => app.url);
    output.message(`The deployment has started. Follow it with: svc apps logs -f ${app.slug}`);
    return;
  }
  const app = await deployAndShow(client, context, request);
  output.value(app, () => app.url);
}

async function deployAndShow(client: Client, { output, signal }: Context, request: Input<"apps", "deploy">) {
  let accepted: AcceptedApp | null = null;
  const show = (progress: DeploymentProgress): void => {
    if (progress.type === "accepted") {
      accepted = progress;
      output.message(`Deploying ${request.repo} as ${progress.slug}`);
    } else showProgress(output, progress);
  };
  try {
    return await client.deployAndWait(request, { signal, onProgress: show });
  } catch (error) {
    if (signal.aborted) throw new Interrupted(explainInterruption(accepted));
    throw error;
  }
}

function explainInterruption(app: AcceptedApp | null): string {
  if (app === null) return "Interrupted. The deployment may have started. See: svc apps list";
  const { slug } = app;
  return `Interrupted. The deployment continues. Follow it with: svc apps logs -f ${slug}, or cancel it with: svc deployments cancel ${slug} 1`;
}
