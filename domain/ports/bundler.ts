import type { OutputListener } from "./git-source.ts";

/** One migration file of an app, in the order of its name, split into single statements. */
export interface Migration {
  name: string;
  statements: string[];
}

/** How an app's static files answer; the words are those of the edge platform's asset configuration. */
export interface AssetRules {
  html_handling?: "auto-trailing-slash" | "force-trailing-slash" | "drop-trailing-slash" | "none" | undefined;
  not_found_handling?: "single-page-application" | "404-page" | "none" | undefined;
  run_worker_first?: boolean | string[] | undefined;
}

/** Everything an edge platform needs to run one version of an app. The paths end with the workspace. */
export interface Bundle {
  /** A file: the multipart upload form of the edge platform (metadata, bindings, modules). */
  scriptPath: string;
  /** Static files to serve beside the script, free of links; `null` when the app has none. */
  assets: { directory: string; rules: AssetRules } | null;
  /** The detected framework's id, such as `astro`, `vite`, `hono`; `null` for a plain script. */
  framework: string | null;
  migrations: Migration[];
}

export interface BundleRequest {
  /** The checked-out source; the build may write into it. */
  sourceDirectory: string;
  /** An empty folder of the workspace that receives the bundle. */
  outputDirectory: string;
  onOutput: OutputListener;
  signal: AbortSignal;
}

/** Turns a checkout into something the edge platform can run. */
export interface Bundler {
  /**
   * Installs, builds and bundles inside the sandbox: the install reaches the package registry only, the rest has no
   * network. Safe to repeat on a fresh checkout.
   *
   * @throws {BuildFailure} `user` when the project cannot be built or asks for what an app cannot have; `platform`
   *   when the registry or the sandbox fails
   */
  bundle(request: BundleRequest): Promise<Bundle>;
}
