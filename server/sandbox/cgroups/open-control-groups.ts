import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { isAbandoned, ownIdentity } from "../process-identity.ts";
import { foldersIn, removeGroup } from "./control-group.ts";
import { type ControlGroups, KernelControlGroups, NoControlGroups } from "./control-groups.ts";
import { delegatedGroup, enableControllers } from "./delegated-group.ts";
import { CONTROLLERS, findOwnGroups, type OwnGroups } from "./find-hierarchies.ts";
import { type GroupFolders, V1, V2 } from "./group-settings.ts";

const PREFIX = "sandboxes-";

/**
 * Opens control groups below those of this process: of version 2 if its group was delegated to the service, otherwise of
 * version 1. Removes the groups that a killed service left. Where neither is possible, the result says why.
 */
export async function openControlGroups(own: OwnGroups = findOwnGroups()): Promise<ControlGroups> {
  const problems: string[] = [];
  for (const open of [openUnified, openLegacy]) {
    try {
      return await open(own);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return new NoControlGroups(problems.join("; "));
}

async function openUnified({ unified }: OwnGroups): Promise<ControlGroups> {
  if (unified === null) throw new Error("version 2 is not mounted");
  const available = new Set(readFileSync(path.join(unified, "cgroup.controllers"), "utf8").trim().split(" "));
  if (!available.has("memory")) throw new Error("version 2 has no memory controller");
  const parent = delegatedGroup(unified);
  const controllers = CONTROLLERS.filter((controller) => available.has(controller));
  enableControllers(parent, controllers);
  const root = path.join(parent, groupName());
  const folderOf = (controller: (typeof CONTROLLERS)[number]) => (controllers.includes(controller) ? root : null);
  const folders = { memory: folderOf("memory"), pids: folderOf("pids"), cpu: folderOf("cpu") };
  return openBelow(
    [parent],
    () => new KernelControlGroups(V2, folders, (folder) => enableControllers(folder, controllers)),
  );
}

async function openLegacy({ legacy }: OwnGroups): Promise<ControlGroups> {
  if (legacy.memory === null) throw new Error("version 1 has no memory controller");
  const name = groupName();
  const join = (folder: string | null) => (folder === null ? null : path.join(folder, name));
  const folders: GroupFolders = { memory: join(legacy.memory), pids: join(legacy.pids), cpu: join(legacy.cpu) };
  const parents = Object.values(legacy).filter((folder) => folder !== null);
  return openBelow(parents, () => new KernelControlGroups(V1, folders));
}

async function openBelow(parents: readonly string[], open: () => ControlGroups): Promise<ControlGroups> {
  for (const parent of new Set(parents)) await removeAbandoned(parent);
  return open();
}

function groupName(): string {
  return `${PREFIX}${ownIdentity()}-${randomUUID().slice(0, 8)}`;
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of foldersIn(parent)) {
    if (!name.startsWith(PREFIX) || !isAbandoned(name.slice(PREFIX.length))) continue;
    // Another service may be removing the same group.
    await removeGroup(path.join(parent, name)).catch(() => undefined);
  }
}
