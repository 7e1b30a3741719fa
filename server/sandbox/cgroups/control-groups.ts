import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { UID_RANGES, type SandboxKind } from "../uid-pool.ts";
import { ControlGroup, removeGroup } from "./control-group.ts";
import { CONTROLLERS, type Controller } from "./find-hierarchies.ts";
import { GroupMemory } from "./group-memory.ts";
import { configureGroup, configureKind, type Dialect, type GroupFolders, type GroupLimits } from "./group-settings.ts";

/** Creates the control groups of sandboxes, through which the kernel limits their memory, processes and CPU time. */
export interface ControlGroups extends AsyncDisposable {
  /** What the kernel limits. */
  readonly controllers: readonly Controller[];
  readonly version: Dialect["version"] | null;
  /** Why some controllers are missing; `null` if all are there. */
  readonly problem: string | null;
  /** Returns `null` when no controller is available. */
  create(kind: SandboxKind, limits: GroupLimits): ControlGroup | null;
}

/** For hosts on which the service cannot create control groups. */
export class NoControlGroups implements ControlGroups {
  readonly controllers = [];
  readonly version = null;
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }

  create(): null {
    return null;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** For sandboxes that are created without control groups. */
export const NO_GROUPS: ControlGroups = new NoControlGroups("control groups are not in use");

/** Groups below one folder for each controller: one group for each kind of sandbox, and in it one for each sandbox. */
export class KernelControlGroups implements ControlGroups {
  readonly controllers: readonly Controller[];
  readonly version: Dialect["version"];
  readonly problem: string | null;
  readonly #dialect: Dialect;
  readonly #root: GroupFolders;

  /**
   * @param root - the folders of a group that contains nothing else. They do not exist yet.
   * @param prepare - called for each folder that will contain groups
   * @throws when the kernel does not let this process create the groups
   */
  constructor(dialect: Dialect, root: GroupFolders, prepare: (folder: string) => void = () => undefined) {
    this.#dialect = dialect;
    this.#root = root;
    this.version = dialect.version;
    this.controllers = CONTROLLERS.filter((controller) => root[controller] !== null);
    const missing = CONTROLLERS.filter((controller) => root[controller] === null);
    this.problem = missing.length === 0 ? null : `the control groups have no controller for ${missing.join(" and ")}`;
    createFolders(root).forEach(prepare);
    for (const kind of Object.keys(UID_RANGES) as SandboxKind[]) {
      const folders = below(root, kind);
      createFolders(folders).forEach(prepare);
      configureKind(dialect, folders, kind);
    }
  }

  create(kind: SandboxKind, limits: GroupLimits): ControlGroup {
    const folders = below(this.#root, kind, randomUUID());
    const memory = folders.memory === null ? null : new GroupMemory(this.#dialect, folders.memory, limits);
    const group = new ControlGroup(createFolders(folders), memory);
    configureGroup(this.#dialect, folders, limits);
    return group;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const folder of distinct(this.#root)) await removeGroup(folder);
  }
}

function below(folders: GroupFolders, ...names: string[]): GroupFolders {
  const join = (folder: string | null) => (folder === null ? null : path.join(folder, ...names));
  return { memory: join(folders.memory), pids: join(folders.pids), cpu: join(folders.cpu) };
}

function createFolders(folders: GroupFolders): string[] {
  const created = distinct(folders);
  for (const folder of created) mkdirSync(folder);
  return created;
}

/** In version 2, all controllers have one folder. */
function distinct(folders: GroupFolders): string[] {
  return [...new Set(Object.values(folders) as (string | null)[])].filter((folder) => folder !== null);
}
