import type { Bundler, BundleRequest, BuiltBundle, Dependency } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";

/** For an edge platform that runs no Node servers. Refuses one before its build if the request says so, else after it. */
export class WorkersOnlyBundler implements Bundler {
  readonly #bundler: Bundler;

  constructor(bundler: Bundler) {
    this.#bundler = bundler;
  }

  async bundle(request: BundleRequest): Promise<BuiltBundle> {
    if (request.runtime === "node") throw nodeServer();
    const bundle = await this.#bundler.bundle(request);
    if (bundle.code.runtime === "node") throw nodeServer();
    return bundle;
  }

  runScript(request: BundleRequest, script: string): Promise<boolean> {
    return this.#bundler.runScript(request, script);
  }

  addDependency(request: BundleRequest, dependency: Dependency): Promise<void> {
    return this.#bundler.addDependency(request, dependency);
  }
}

function nodeServer(): BuildFailure {
  return new BuildFailure(
    "user",
    "The app is a Node server, and this installation runs apps on Cloudflare, which runs Workers only.",
    "Export a fetch handler, and deploy the app as a Worker.",
  );
}
