import path from "node:path";
import type { OpenHostDeps } from "../../domain/agents/open-host.ts";
import type { GitSource } from "../../domain/ports/git-source.ts";
import { CheckoutLimiter } from "../../domain/skills/checkout-limiter.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { ZipReader } from "../drivers/archive-reader/zip-reader.ts";
import { FilesystemTemporaryWorkspaces } from "../drivers/temporary-workspaces/filesystem.ts";
import { ThreadYamlParser } from "../drivers/yaml-parser/thread-yaml-parser.ts";
import type { Foundation } from "./foundation.ts";

/** Opens the dependencies of skills, and removes the checkouts of an earlier process. */
export async function openSkills(
  { config, database, startProcess }: Foundation,
  git: GitSource,
  openHostDeps: OpenHostDeps,
): Promise<Capabilities["skills"]> {
  const workspaces = new FilesystemTemporaryWorkspaces(
    path.join(config.dataDirectory, "skill-checkouts"),
    null,
    startProcess,
  );
  await workspaces.clear();
  return {
    ...openHostDeps,
    em: database.em,
    yaml: new ThreadYamlParser(),
    archives: new ZipReader(),
    git,
    workspaces,
    checkouts: new CheckoutLimiter(),
  };
}
