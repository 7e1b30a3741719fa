import path from "node:path";
import { fileURLToPath } from "node:url";
import { DeploymentLogTails } from "../../domain/deployments/follow-deployment-log.ts";
import type { DeploymentDeps } from "../../domain/deployments/run-deployment.ts";
import type { AppBuilder } from "../../domain/ports/app-builder-agent.ts";
import type { ArchiveSource } from "../../domain/ports/archive-source.ts";
import type { Bundler } from "../../domain/ports/bundler.ts";
import type { GitHosts } from "../../domain/ports/git-hosts.ts";
import type { GitSource, GitTips } from "../../domain/ports/git-source.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import { ValueCipher } from "../../domain/shared/value-cipher.ts";
import type { TemporaryWorkspaces } from "../../domain/ports/temporary-workspaces.ts";
import type { EnforceDeps } from "../../domain/storage/enforce-storage.ts";
import type { Service } from "../../routers/core/context.ts";
import type { Config } from "../config.ts";
import { WORKSPACE_EXTRA_MB } from "../config/build-limits.ts";
import { SandboxedArchives } from "../drivers/archive-source/sandboxed-archives.ts";
import { TarExports } from "../drivers/app-exports/tar-exports.ts";
import { CommandAppBuilder } from "../drivers/app-builder/command-app-builder.ts";
import { ModelAppBuilder } from "../drivers/app-builder/model-app-builder.ts";
import { IsolatedTrial } from "../drivers/app-trial/isolated-trial.ts";
import { DependencyStore } from "../drivers/bundler/dependencies/dependency-store.ts";
import { DEFAULT_LIMITS } from "../drivers/bundler/wrangler-bundler.ts";
import { ExamplesSource } from "../drivers/git-source/examples-source.ts";
import { CheckedGitHosts } from "../drivers/git-hosts/checked-git-hosts.ts";
import { SandboxedGit, type SandboxedGitOptions } from "../drivers/git-source/sandboxed-git.ts";
import { openModel } from "../drivers/language-model/ai-sdk-model.ts";
import { IsolatedDiscovery } from "../drivers/procedure-discovery/isolated-discovery.ts";
import { FilesystemTemporaryWorkspaces } from "../drivers/temporary-workspaces/filesystem.ts";
import { createBoundedFetch } from "../http/bounded-fetch.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { volumeProblem } from "../sandbox/memory-volume.ts";
import { removeAbandonedSocketFolders } from "../sandbox/socket-folder.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined-sandbox.ts";
import { WorkersOnlyBundler } from "../drivers/bundler/workers-only-bundler.ts";
import { createBundler, TOOLCHAIN_FOLDERS } from "./bundler.ts";
import type { Foundation } from "./foundation.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** How long the call that cancels a deployment waits for its end, in milliseconds. */
const CANCEL_WAIT_MS = 10_000;

/** Archives that arrive do not wait for each other: those beyond the limits are rejected. */
const ARCHIVE_UPLOADS = { running: 32, runningPerKey: 4, waiting: 0 };
const ARCHIVE_CHECKS = { running: 2, runningPerKey: 1, waiting: 32, waitingPerKey: 8, waitMs: 120_000 };
const ARCHIVES_BUSY = "The service is receiving other archives. Try again in a few seconds.";

/** Each needs as much disk as the data of an app. */
const EXPORTS = { running: 2, runningPerKey: 1, waiting: 0 };
const EXPORTS_BUSY = "Other apps are being exported. Try again when they are downloaded.";
const IMPORTS_BUSY = "Other apps are being imported. Try again in a few seconds.";

export interface DeploymentServices {
  /** For calls that read and change deployments. */
  deployments: Pick<
    Service,
    | "appBuilder"
    | "appData"
    | "appExports"
    | "appImports"
    | "exportArchive"
    | "archiveChecks"
    | "archiveSource"
    | "archiveUploads"
    | "cancelWaitMs"
    | "gitHosts"
    | "gitTips"
    | "gitTokenCipher"
    | "logTails"
    | "objects"
  >;
  /** For the worker, which runs deployments. */
  deploymentDeps: DeploymentDeps;
  /** Why the kernel does not limit the disk space of builds; `null` if it does. */
  diskProblem: string | null;
}

/** Opens the dependencies of deployments: the source, the sandbox, the bundler and the object store. */
export async function openDeployments(
  foundation: Foundation,
  opening: AsyncDisposableStack,
): Promise<DeploymentServices> {
  const { config, database, edge, external, log, objects, plans, queue, shared, tokenSecret, variables } = foundation;
  // The edge platform has locked the data folder by now, so no other process can be building in it.
  const { diskProblem, sandbox, ...buildPlatform } = await openBuildPlatform(config, foundation);
  const appBuilder = external.appBuilder === undefined ? createAppBuilder(config, sandbox) : external.appBuilder;
  opening.defer(() => buildPlatform.dependencies.close());
  if (diskProblem !== null) log.warn({ problem: diskProblem }, "the kernel does not limit the disk space of builds");
  await removeAbandonedSocketFolders();
  const { archiveSource, gitHosts, git: gitTips } = buildPlatform;
  const exportServices = { appData: edge.appData, exportArchive: new TarExports() };
  const gitTokenCipher = new ValueCipher(tokenSecret, "git-connections");
  return {
    diskProblem,
    deployments: {
      ...archiveQueues(),
      ...exportServices,
      archiveSource,
      gitHosts,
      gitTips,
      gitTokenCipher,
      appBuilder,
      objects,
      logTails: opening.use(new DeploymentLogTails({ db: database.db, objects }, shared.logChanges)),
      cancelWaitMs: CANCEL_WAIT_MS,
    },
    deploymentDeps: {
      ...buildPlatform,
      ...exportServices,
      gitTokenCipher,
      gitBaseUrl: config.gitBaseUrl,
      em: database.em,
      jobs: queue.jobs,
      objects,
      ...{ changes: shared.changes, logChanges: shared.logChanges },
      ...{ authEntries: edge.authEntries, edge: edge.platform, databases: edge.databases },
      discovery: new IsolatedDiscovery({ runtime: edge.isolatedRuntime }),
      appBuilder,
      trial: new IsolatedTrial(edge.isolatedRuntime, edge.trialDatabases),
      db: database.db,
      plans,
      tokenSecret,
      variables,
      secrets: [tokenSecret, ...passwordsIn(config)],
      reportInternalError: (err, build) => log.error({ err, ...build }, "a deployment failed with an internal error"),
    },
  };
}

function archiveQueues() {
  return {
    archiveUploads: new FairQueue(ARCHIVE_UPLOADS, ARCHIVES_BUSY),
    archiveChecks: new FairQueue(ARCHIVE_CHECKS, ARCHIVES_BUSY),
    appExports: new FairQueue(EXPORTS, EXPORTS_BUSY),
    appImports: new FairQueue(EXPORTS, IMPORTS_BUSY),
  };
}

/** What one response of the model of the app builder agent may take. */
const MODEL_RESPONSE = { bytes: 4 * 1024 * 1024, timeoutMs: 180_000 };

function createAppBuilder({ builder }: Config, sandbox: Sandbox): AppBuilder | null {
  if (builder === null) return null;
  const { model, command, folder } = builder;
  if (command !== null) return new CommandAppBuilder({ command, folder, endpoint: model, sandbox });
  const { bytes, timeoutMs } = MODEL_RESPONSE;
  return new ModelAppBuilder({
    sandbox,
    openModel: () => openModel(model, createBoundedFetch(bytes, timeoutMs)),
  });
}

interface BuildPlatform {
  sandbox: Sandbox;
  git: GitSource & GitTips;
  archiveSource: ArchiveSource;
  gitHosts: GitHosts;
  bundler: Bundler;
  dependencies: DependencyStore;
  workspaces: TemporaryWorkspaces;
  /** Why the kernel does not limit the size of workspaces; `null` if it does. */
  diskProblem: string | null;
}

/** Opens the parts of a build that need no database: the source, the bundler and empty workspaces. */
export async function openBuildPlatform(
  config: Config,
  {
    controlGroups: groups,
    startProcess,
    log,
    edge,
  }: Partial<Pick<Foundation, "controlGroups" | "startProcess" | "log" | "edge">> = {},
): Promise<BuildPlatform> {
  const sandbox =
    config.sandbox === "none" ? new UnconfinedSandbox({ groups }) : new BubblewrapSandbox({ groups, startProcess });
  const dependencies = new DependencyStore(path.join(config.dataDirectory, "dependencies"));
  const wrangler = createBundler(sandbox, config.npmEnvironment, {
    buildEgress: config.buildEgress,
    limits: config.buildLimits,
    dependencies,
    databases: edge?.temporaryDatabases,
    onRegistryOutage: (code) => log?.warn({ code }, "the package registry cannot be reached"),
  });
  const bundler = config.cloudflare === null ? wrangler : new WorkersOnlyBundler(wrangler);
  const root = path.join(config.dataDirectory, "builds");
  await new FilesystemTemporaryWorkspaces(root).clear();
  const sizeMb = config.buildLimits.diskMb + WORKSPACE_EXTRA_MB;
  const diskProblem = await volumeProblem(root, {
    users: "builds",
    count: config.buildConcurrency,
    sizeMb,
    // Simultaneous builds rarely use all of their memory at the same time. If they do, the kernel kills a build first.
    processMb: DEFAULT_LIMITS.build.memoryMb,
  });
  const workspaces = new FilesystemTemporaryWorkspaces(root, diskProblem === null ? sizeMb : null, startProcess);
  const gitHosts = new CheckedGitHosts({ networks: config.gitPrivateNetworks });
  const git = gitSource(config, { sandbox, isAllowedAddress: gitHosts.isAllowedAddress });
  const archiveSource = await SandboxedArchives.open({
    sandbox,
    folder: path.join(config.dataDirectory, "archive-checks"),
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
  });
  return { sandbox, git, archiveSource, gitHosts, bundler, dependencies, workspaces, diskProblem };
}

/** Outside production, `examples/<name>` deploys the project's own examples without a network. */
function gitSource(
  config: Config,
  options: Pick<SandboxedGitOptions, "sandbox" | "isAllowedAddress">,
): GitSource & GitTips {
  const { sandbox } = options;
  const others = new SandboxedGit({ baseUrl: config.gitBaseUrl, ...options });
  if (config.production) return others;
  const dataFolder = path.join(config.dataDirectory, "examples");
  return new ExamplesSource({ examplesFolder: path.join(PROJECT, "examples"), dataFolder, sandbox, others });
}

/** Passwords that must not appear in a build log, even if a tool prints them. */
function passwordsIn(config: Config): string[] {
  const urls = [config.databaseUrl, config.appsDatabaseUrl, config.redisUrl, config.gitBaseUrl];
  const passwords = urls.map((url) => (url === null ? undefined : URL.parse(url)?.password));
  const keys = [config.s3?.secretAccessKey, config.backup.s3?.secretAccessKey, config.cloudflare?.apiToken];
  return [...passwords, ...keys].filter((password): password is string => password !== undefined && password !== "");
}

/** The dependencies of the measurement of what apps store, which the worker runs. */
export function createStorage({ database, edge, plans, shared, log }: Foundation): EnforceDeps {
  return {
    em: database.em,
    db: database.db,
    plans,
    storage: edge.storage,
    changes: shared.changes,
    report: (err, { appId, slug }) => log.warn({ err, appId, slug }, "the storage of an app could not be checked"),
  };
}
