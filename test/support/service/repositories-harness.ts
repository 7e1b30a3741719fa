import { pathToFileURL } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";
import { createHarness, type Harness, type HarnessOptions } from "./harness.ts";

export interface RepositoriesHarness {
  harness(): Harness;
  /** The folder of the git repositories that the service can deploy. */
  repositories(): string;
}

/** Starts one service for all tests of a file, with a worker that deploys from git repositories in a folder. */
export function repositoriesHarness(options: Omit<HarnessOptions, "worker"> = {}): RepositoriesHarness {
  let opened: { harness: Harness; folder: string; disposables: AsyncDisposableStack } | undefined;
  beforeAll(async () => {
    await using opening = new AsyncDisposableStack();
    const { path: folder } = opening.use(await temporaryFolder());
    const config = { ...options.config, gitBaseUrl: pathToFileURL(folder).href };
    const harness = opening.use(await createHarness({ ...options, worker: true, config }));
    opened = { harness, folder, disposables: opening.move() };
  });
  afterAll(() => opened?.disposables.disposeAsync());
  const get = () => {
    if (opened === undefined) throw new Error("the service of this file has not started");
    return opened;
  };
  return { harness: () => get().harness, repositories: () => get().folder };
}
