import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import type { CreatedOrganization } from "../../../domain/organizations/create-organization.ts";
import { Repository } from "../../support/builds/git-repository.ts";
import type { RestClient } from "../../support/clients/rest-client.ts";
import { type Installation, PROJECT } from "../../support/service/service-process.ts";

const TIME_LIMIT_MS = 1_100_000;
const POLL_INTERVAL_MS = 500;
const FINAL_STATUSES = ["ready", "failed", "canceled"];

/** What the service says about an app whose deployment has ended. */
export interface DeployedApp {
  id: string;
  url: string;
  status: string;
  error: string | null;
  status_message: string | null;
  manifest: { framework?: string | null } | null;
}

/** Commits the files of a folder, except those that its `.gitignore` excludes, as `owner/name` below `base`. */
export async function commitFolder(folder: string, base: string, repo: string): Promise<void> {
  const repository = await Repository.create(base, repo);
  await repository.git([`--git-dir=${repository.path}`, `--work-tree=${folder}`, "-C", folder, "add", "--all", "."]);
  await repository.commit(await repository.git(["write-tree"]));
}

/** Creates an organization, so that the limits of deployments and apps do not end the run. */
export async function createOrganization({ dataDirectory }: Installation, rest: RestClient): Promise<RestClient> {
  const args = ["server/admin/admin.ts", "bootstrap", "--org", "Frameworks", "--email", "ada@example.com", "--json"];
  const env = { PATH: process.env["PATH"] ?? "", DATA_DIR: dataDirectory };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT, env });
  return rest.as((JSON.parse(stdout) as CreatedOrganization).api_key);
}

export interface DeploySettings {
  rootDirectory?: string;
  variables?: Readonly<Record<string, string>>;
}

/** Deploys a repository, and waits until the deployment has ended. */
export async function deployRepository(
  rest: RestClient,
  repo: string,
  { rootDirectory, variables = {} }: DeploySettings = {},
): Promise<DeployedApp> {
  const accepted = await rest.deploy({
    repo,
    ...(rootDirectory !== undefined && { root_directory: rootDirectory }),
    variables: Object.entries(variables).map(([name, value]) => ({ name, value, build: true })),
  });
  if (accepted.status !== 201) throw new Error(`The deployment was refused: ${accepted.text}`);
  const end = Date.now() + TIME_LIMIT_MS;
  for (;;) {
    const { status, body, text } = await rest.get(`/v1/apps/${String(accepted.body["app_id"])}`);
    if (status !== 200) throw new Error(`The app could not be read: ${text}`);
    const app = body as unknown as DeployedApp;
    if (FINAL_STATUSES.includes(app.status)) return app;
    if (Date.now() > end) throw new Error(`The deployment is still ${app.status}.`);
    await setTimeout(POLL_INTERVAL_MS);
  }
}
