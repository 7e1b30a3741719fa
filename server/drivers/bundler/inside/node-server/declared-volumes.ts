import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { isFile } from "../package-json.ts";
import { beforeCommands, type ServerCommands } from "./database-paths.ts";
import { readDockerfileFolders } from "./dockerfile.ts";

const DOCKERFILES = "{.,docker,.docker}/{[Dd]ockerfile,*.[Dd]ockerfile}";
const COMPOSE_FILES = "{.,docker,.docker}/{docker-compose,compose}.{yml,yaml}";
/** Where images commonly have the project, if no Dockerfile says so. */
const COMMON_FOLDERS = ["/app", "/usr/src/app", "/usr/app", "/home/node/app", "/opt/app", "/srv/app", "/code"];

const MAX_FILES = 20;
const MAX_VOLUMES = 10;

const FOLDER = /^[\w-][\w.@-]*(?:\/[\w-][\w.@-]*)*$/;
/** A file, such as `config.yml`. */
const HAS_EXTENSION = /\.\w+$/;
/** Folders with code, which a developer mounts to change it. Packages in another place do not find each other. */
const CODE_FOLDER =
  /(?:^|\/)(?:node_modules|src|dist|build|out|lib|bin|plugins?|modules|packages|plugin_packages)(?:\/|$)/;
const CODE_FILES = "**/*.{js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,html,css}";

/** See keep-folders.sh. */
const KEEP_FOLDERS = "/opt/bundler/node-server/keep-folders.sh";

/**
 * Finds the folders of a project that its Dockerfile or its Compose file declares as volumes, because the server keeps its data
 * there, such as `data` for `./data:/app/data`. Folders with code are left out.
 *
 * @param root - the folder of the source. The current folder is that of the project
 * @returns paths relative to the current folder
 */
export function findDeclaredVolumes(root: string): string[] {
  const found = new Set<string>();
  for (const base of new Set([process.cwd(), path.resolve(root)]))
    for (const { name, isBind } of volumesOf(base)) {
      const folder = path.relative(process.cwd(), path.join(base, name));
      const isUsable = FOLDER.test(folder.replace(/^(?:\.\.\/)+/, "")) && !holdsCode(folder);
      if (isUsable && !(isBind && holdsFiles(folder))) found.add(folder);
    }
  // A volume in another one is part of it.
  const isNested = (folder: string) => [...found].some((other) => folder.startsWith(`${other}/`));
  return [...found].filter((folder) => !isNested(folder)).slice(0, MAX_VOLUMES);
}

/** Lets commands of a server replace the folders that the project declares as volumes by folders that stay. */
export function keepVolumes<T extends ServerCommands & { standalone: unknown }>(server: T, root: string): T {
  // The standalone output has only the folder of the project.
  const folders = findDeclaredVolumes(root).filter((folder) => server.standalone === null || !folder.startsWith(".."));
  if (folders.length === 0) return server;
  console.log(`A Dockerfile or Compose file declares volumes, which are kept in /data: ${folders.join(", ")}.`);
  return beforeCommands(server, `sh ${KEEP_FOLDERS} ${folders.join(" ")} &&`);
}

interface Volume {
  /** The path in a container, later relative to the folder that has the project there. */
  name: string;
  /** Whether the container has a folder of the host there, such as one of the project. */
  isBind: boolean;
}

/** The volumes below the folder that has the project in an image, relative to that folder. */
function volumesOf(base: string): Volume[] {
  const dockerfiles = readAll(base, DOCKERFILES).map(readDockerfileFolders);
  const composed = readAll(base, COMPOSE_FILES).flatMap(readComposeVolumes);
  const declared = dockerfiles.flatMap(({ volumes }) => volumes).map((name) => ({ name, isBind: false }));
  const folders = new Set([...dockerfiles.flatMap(({ workFolders }) => workFolders), ...COMMON_FOLDERS]);
  return [...declared, ...composed].flatMap(({ name: target, isBind }) => {
    const names = [...folders].map((folder) => path.posix.relative(folder, target)).filter((name) => FOLDER.test(name));
    // The innermost folder has the shortest path to it.
    const [name] = names.toSorted((one, other) => one.length - other.length);
    return name === undefined ? [] : [{ name, isBind }];
  });
}

function readAll(base: string, pattern: string): string[] {
  return globSync(pattern, { cwd: base })
    .map((name) => path.join(base, name))
    .filter((file) => isFile(file))
    .slice(0, MAX_FILES)
    .map((file) => readFileSync(file, "utf8"));
}

interface ComposeFile {
  services?: Record<string, { volumes?: unknown } | null> | null;
}

/** The paths in containers at which the services have volumes that they can write to. */
function readComposeVolumes(text: string): Volume[] {
  try {
    const { services } = parse(text) as ComposeFile;
    return Object.values(services ?? {}).flatMap((service) =>
      Array.isArray(service?.volumes) ? service.volumes.flatMap(readVolume) : [],
    );
  } catch {
    // The project may be deployed without it.
    return [];
  }
}

/** A volume is written as `data:/app/data`, `/app/data`, or an object. */
function readVolume(volume: unknown): Volume[] {
  if (typeof volume === "string") {
    const [, source = "", name, mode = ""] = /^(?:(.*):)?(\/[^:]+)(?::([\w,]+))?$/.exec(volume) ?? [];
    return name === undefined || mode.split(",").includes("ro") ? [] : [{ name, isBind: /[./~$]/.test(source) }];
  }
  const { type, target, read_only: isReadOnly } = (volume ?? {}) as Record<string, unknown>;
  if (typeof target !== "string" || type === "tmpfs" || isReadOnly === true) return [];
  return [{ name: target, isBind: type === "bind" }];
}

/** Whether there is more than what keeps an empty folder in a repository. Each deployment brings these files. */
function holdsFiles(folder: string): boolean {
  return globSync("**", { cwd: folder }).some(
    (name) => isFile(path.join(folder, name)) && !/^(?:\..*|readme.*)$/i.test(path.basename(name)),
  );
}

function holdsCode(folder: string): boolean {
  if (CODE_FOLDER.test(folder) || HAS_EXTENSION.test(folder)) return true;
  if (!existsSync(folder)) return false;
  return !statSync(folder).isDirectory() || globSync(CODE_FILES, { cwd: folder }).length > 0;
}
