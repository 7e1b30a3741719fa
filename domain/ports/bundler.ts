import type { DatabasePart } from "../shared/postgres-variables.ts";
import type { OutputListener } from "./git-source.ts";

/** One migration file of an app, split into single statements. */
export interface Migration {
  name: string;
  statements: string[];
}

/** How an app's static files are served, in the terms of the edge platform's asset configuration. */
export interface AssetRules {
  html_handling?: "auto-trailing-slash" | "force-trailing-slash" | "drop-trailing-slash" | "none" | undefined;
  not_found_handling?: "single-page-application" | "404-page" | "none" | undefined;
  run_worker_first?: boolean | string[] | undefined;
}

/** How an app runs: as a script of the edge platform, or as a Node.js process. */
export const RUNTIMES = ["worker", "node"] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** A part of the files of a Node server. */
export interface Layer {
  /** The SHA-256 of the archive before its compression, in hexadecimal. Equal files have the same digest in every build. */
  digest: string;
  /** Path of a tar archive, compressed with Zstandard. */
  path: string;
}

export interface NodeServer<FileLayer = Layer> {
  /** The start command of the project, for a shell. */
  command: string;
  /** The folder in which it starts, relative to the root of the files: `apps/web`, or `.`. */
  directory: string;
  /** The files, in the folder in which they were built. The first layer is above the others. */
  layers: readonly FileLayer[];
  /** Set for a server that stores its data in PostgreSQL. */
  postgres?: PostgresUse;
  /** The command that brings its database up to date before it goes live, for a shell. */
  migration?: string;
}

/** How a server finds its PostgreSQL database. */
export interface PostgresUse {
  /** The environment variables that it reads, beside the usual ones, such as `DATABASE_URL` and `PGHOST`. */
  variables: Readonly<Record<string, DatabasePart>>;
}

/** A Node server without the places of its layers, as it is stored. */
export type ServerDescription = NodeServer<{ digest: string }>;

/** Describes a Node server for storage. */
export function describeServer({ layers, ...server }: ServerDescription): ServerDescription {
  return { ...server, layers: layers.map(({ digest }) => ({ digest })) };
}

/** What runs when an app gets a request. `scriptPath` is the edge platform's multipart upload form: metadata, bindings, modules. */
export type AppCode = { runtime: "worker"; scriptPath: string } | { runtime: "node"; server: NodeServer };

/** Everything an edge platform needs to run one version of an app. Its files are removed with the workspace. */
export interface Bundle {
  code: AppCode;
  /** Static files to serve besides the script, without links; `null` if the app has none. */
  assets: { directory: string; rules: AssetRules } | null;
  /** The id of the detected framework, such as `astro`, `vite` or `hono`; `null` for a plain script. */
  framework: string | null;
  /** In the order in which they are applied. */
  migrations: Migration[];
  /** Problems that do not prevent a deployment, for the app's owner. Each is one line, without secrets. */
  warnings: string[];
}

/** A registry that requires a token. The build gets its packages, and never the token. */
export interface BuildRegistry {
  /** An https URL that ends with a slash. */
  url: string;
  /** The scope whose packages come from it, such as `@acme`; `null` for all packages. */
  scope: string | null;
  token: string;
}

export interface Dependency {
  name: string;
  /** A version or a range; the newest one without it. */
  version?: string | undefined;
  /** Only builds and tests need it. */
  isDevelopment: boolean;
}

/** The steps of a build that take time, in their order. */
export const BUNDLE_STEPS = ["install", "build", "bundle"] as const;
export type BundleStep = (typeof BUNDLE_STEPS)[number];

export interface BundleRequest {
  /** The checked-out source. The build may write to it. */
  sourceDirectory: string;
  /** The organization whose builds share stored dependencies. Without it, the build uses and stores none. */
  organizationId?: string;
  /** The app whose builds share what install scripts created. Without it, they run in every build. */
  appId?: string;
  /** The environment variables that the app's owner has set for builds. Installed packages do not get them during the install. */
  variables?: Readonly<Record<string, string>>;
  /** The private registry of the app. */
  registry?: BuildRegistry | null;
  /** An empty folder of the workspace, to which the bundle is written. */
  outputDirectory: string;
  /** The folder to build, relative to the source. Without it, the only package of a workspace that can be deployed. */
  rootDirectory?: string | null;
  /** How the app runs; without it, as the project says. */
  runtime?: Runtime | null;
  /** Whether the build script may connect to public addresses. Without it, and if the operator forbids it, it has no network. */
  network?: boolean;
  onOutput: OutputListener;
  /** Called when a step starts, which waits for it. A build without packages or without a build script leaves steps out. */
  onStep?: (step: BundleStep) => Promise<void>;
  signal: AbortSignal;
}

/** A bundle, and the folder that it was built from. */
export interface BuiltBundle extends Bundle {
  /** The folder that was built, relative to the source: `apps/web`, or `.` for all of it. */
  rootDirectory: string;
}

/** Builds a checkout into a bundle that the edge platform can run. */
export interface Bundler {
  /**
   * Installs, builds and bundles inside the sandbox. The install can reach the package registry and the packages that the project names elsewhere, its scripts the registry and the engines of Prisma only; the build
   * script has the requested network; the other steps have none. An install with the lockfile and the settings of an earlier
   * one of the organization may use its result. Safe to repeat on a fresh checkout.
   *
   * @throws {BuildFailure} `user` when the project cannot be built or exceeds a limit; `platform` when the package
   *   registry or the sandbox fails
   */
  bundle(request: BundleRequest): Promise<BuiltBundle>;

  /**
   * Installs the packages of a project and runs one script of its package.json, such as `test`, in the network of a build.
   *
   * @returns whether the script succeeded; its output goes to `onOutput`
   * @throws {BuildFailure} as `bundle` does for the install
   */
  runScript(request: BundleRequest, script: string): Promise<boolean>;

  /**
   * Adds a package of the registry to the manifest and the lockfile of a project, under the rules of installs.
   *
   * @throws {BuildFailure} as `bundle` does
   */
  addDependency(request: BundleRequest, dependency: Dependency): Promise<void>;
}
