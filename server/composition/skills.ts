import path from "node:path";
import type { HostAccess } from "../../domain/agents/host-access.ts";
import type { GitSource } from "../../domain/ports/git-source.ts";
import { CheckoutSlots } from "../../domain/skills/checkout-slots.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { ZipReader } from "../drivers/archive-reader/zip-reader.ts";
import { FilesystemWorkspaces } from "../drivers/workspaces/filesystem.ts";
import { ThreadYamlParser } from "../drivers/yaml-parser/thread-yaml-parser.ts";
import type { Foundation } from "./foundation.ts";

/** Opens the dependencies of skills, and removes the checkouts of an earlier process. */
export async function openSkills(
  { config, database, startProcess }: Foundation,
  git: GitSource,
  hostAccess: HostAccess,
): Promise<Capabilities["skills"]> {
  const workspaces = new FilesystemWorkspaces(path.join(config.dataDirectory, "skill-checkouts"), null, startProcess);
  await workspaces.clear();
  return {
    ...hostAccess,
    em: database.em,
    yaml: new ThreadYamlParser(),
    archives: new ZipReader(),
    git,
    workspaces,
    checkouts: new CheckoutSlots(),
  };
}
