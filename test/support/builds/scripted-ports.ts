import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { DeploymentDeps } from "../../../domain/deployments/run-deployment.ts";
import type { Customization, CustomizationReport } from "../../../domain/ports/app-builder-agent.ts";
import type { BuiltBundle, BundleRequest, Migration } from "../../../domain/ports/bundler.ts";
import { type EdgePlatform, type Publication, type Script, ServerError } from "../../../domain/ports/edge-platform.ts";
import type { CheckedOut, Checkout } from "../../../domain/ports/git-source.ts";
import type { DiscoveryRequest, DiscoveryResult } from "../../../domain/ports/procedure-discovery.ts";

type Result<T> = Promise<T> | T;

/** What the steps of a deployment do. A step without an entry succeeds. Each entry can throw. */
export interface ScriptedSteps {
  checkOut?: (checkout: Checkout) => Result<Partial<CheckedOut> | void>;
  customize?: (customization: Customization) => Result<void>;
  bundle?: (request: BundleRequest) => Result<Partial<BuiltBundle>>;
  discover?: (request: DiscoveryRequest) => Result<DiscoveryResult>;
  migrate?: () => Result<void>;
  publish?: (slug: string, script: Script) => Result<ServerError | readonly string[] | Omit<Publication, "url"> | void>;
}

export const COMMIT = "c".repeat(40);

/** Ports that build and publish nothing, and record their calls. The database, the object store and the rest are real. */
export class ScriptedPorts {
  steps: ScriptedSteps;
  readonly checkouts: Checkout[] = [];
  readonly customizations: Customization[] = [];
  readonly bundled: BundleRequest[] = [];
  readonly discovered: DiscoveryRequest[] = [];
  readonly createdDatabases: string[] = [];
  readonly migrated: { databaseId: string; migrations: readonly Migration[] }[] = [];
  readonly published: { slug: string; script: Script; text: string }[] = [];
  readonly internalErrors: { error: unknown; where: object }[] = [];
  readonly deps: DeploymentDeps;

  constructor(real: DeploymentDeps, steps: ScriptedSteps = {}) {
    this.steps = steps;
    this.deps = {
      ...real,
      git: { checkOut: (checkout) => this.#checkOut(checkout) },
      appBuilder: { customize: (customization) => this.#customize(customization) },
      bundler: {
        bundle: (request) => this.#bundle(request),
        runScript: () => Promise.resolve(true),
        addDependency: () => Promise.resolve(),
      },
      discovery: { discover: (request) => this.#discover(request) },
      databases: {
        create: async (databaseId) => void this.createdDatabases.push(databaseId),
        migrate: async (databaseId, migrations) => {
          this.migrated.push({ databaseId, migrations });
          await this.steps.migrate?.();
        },
        remove: async () => {},
        list: async () => [],
      },
      edge: this.#edge(),
      reportInternalError: (error, where) => void this.internalErrors.push({ error, where }),
    };
  }

  async #checkOut(checkout: Checkout): Promise<CheckedOut> {
    this.checkouts.push(checkout);
    await mkdir(checkout.directory, { recursive: true });
    await writeFile(path.join(checkout.directory, "index.ts"), "source");
    const changes = await this.steps.checkOut?.(checkout);
    return { commit: COMMIT, ...changes };
  }

  async #customize(customization: Customization): Promise<CustomizationReport> {
    this.customizations.push(customization);
    await this.steps.customize?.(customization);
    // An agent that changes nothing has failed.
    await writeFile(path.join(customization.sourceDirectory, "changed.ts"), "changed");
    return { summary: "Painted it.", steps: 1 };
  }

  async #bundle(request: BundleRequest): Promise<BuiltBundle> {
    this.bundled.push(request);
    await mkdir(request.outputDirectory, { recursive: true });
    const scriptPath = path.join(request.outputDirectory, "script.form");
    await writeFile(scriptPath, "script");
    const changes = await this.steps.bundle?.(request);
    return {
      code: { runtime: "worker", scriptPath },
      assets: null,
      framework: null,
      migrations: [],
      warnings: [],
      rootDirectory: ".",
      ...changes,
    };
  }

  async #discover(request: DiscoveryRequest): Promise<DiscoveryResult> {
    this.discovered.push(request);
    return this.steps.discover === undefined ? { procedures: [], problem: null } : this.steps.discover(request);
  }

  #edge(): EdgePlatform {
    const live = new Map<string, Script>();
    return {
      publish: async (slug, script) => {
        this.published.push({ slug, script, text: await textOf(script) });
        live.set(slug, script);
        const result = (await this.steps.publish?.(slug, script)) ?? [];
        const url = `http://${slug}.test`;
        if (result instanceof ServerError) return { url, problem: result };
        return "length" in result ? { url, printed: result } : { url, ...result };
      },
      unpublish: async (slug) => void live.delete(slug),
      restart: async () => {},
      liveGeneration: async (slug) => live.get(slug)?.generation ?? null,
      list: async () => [...live].map(([slug, { appId }]) => ({ slug, appId })),
      urlOf: (slug) => `http://${slug}.test`,
    };
  }
}

/** The script of a Worker, or the start command of a Node server. */
async function textOf({ code }: Script): Promise<string> {
  return code.runtime === "worker" ? readFile(code.scriptPath, "utf8") : code.server.command;
}
