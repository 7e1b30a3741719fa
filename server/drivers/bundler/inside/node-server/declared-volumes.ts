import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { isFile } from "../package-json.ts";
import { prependToCommands, type ServerCommands } from "./database-paths.ts";
import { readDockerfileFolders } from "./dockerfile.ts";

const DOCKERFILES = "{.,docker,.docker}/{[Dd]ockerfile,*.[Dd]ockerfile}";
const COMPOSE_FILES = "{.,docker,.docker}/{docker-compose,compose}.{yml,yaml}";
/** Where images commonly have the project, if no Dockerfile says so. */
const COMMON_FOLDERS = ["/app", "/usr/src/app", "/usr/app", "/home/node/app", "/opt/app", "/srv/app", "/code"];

const MAX_FILES = 20;
const MAX_VOLUMES = 10;

const FOLDER = /^\w[\w.@-]*(?:\/\w[\w.@-]*)*$/;
/** A file, such as `config.yml`. */
const HAS_EXTENSION = /\.\w+$/;
/** Folders with code, which a developer mounts to change it. Packages in another place do not find each other. */
const CODE_FOLDER =
  /(?:^|\/)(?:node_modules|src|dist|build|out|lib|bin|plugins?|modules|packages|plugin_packages)(?:\/|$)/;
const CODE_FILES = "**/*.{js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,svelte,astro,html,css,prisma,sql}";
/** Folders whose files need not stay. A server without data in /data can start beside the version that it replaces. */
const TEMPORARY_FOLDER = /(?:^|\/)(?:logs?|te?mp|caches?)$/;

/** See keep-folders.sh. */
const KEEP_FOLDERS = "/opt/bundler/node-server/keep-folders.sh";

/** A folder that a Dockerfile or Compose file declares as a volume. */
export interface DeclaredVolume {
  /** Relative to the folder of the project. */
  folder: string;
  /** Its name in /data/volumes. It does not depend on which package of the source is deployed. */
  key: string;
  /** Whether each deployment brings files for it. */
  isFilled: boolean;
}

/** Lets commands of a server replace the folders that the project declares as volumes by folders that stay. */
export function keepVolumes<T extends ServerCommands & { standalone: unknown }>(server: T, root: string): T {
  const volumes = findDeclaredVolumes(root)
    // The standalone output has only the folder of the project.
    .filter(({ folder }) => server.standalone === null || !folder.startsWith(".."));
  if (volumes.length === 0) return server;
  const [filled, kept] = [volumes.filter(({ isFilled }) => isFilled), volumes.filter(({ isFilled }) => !isFilled)];
  if (kept.length > 0) console.log(`Volumes of the Dockerfile or Compose file are kept in /data: ${namesOf(kept)}.`);
  if (filled.length > 0)
    console.log(
      `Volumes of the Dockerfile or Compose file that have files in the repository are kept only if an earlier deployment kept them: ${namesOf(filled)}.`,
    );
  const words = [...kept.map(toWord), ...(filled.length > 0 ? ["--", ...filled.map(toWord)] : [])];
  return prependToCommands(server, `sh ${KEEP_FOLDERS} ${words.join(" ")} || exit 1;`);
}

const namesOf = (volumes: readonly DeclaredVolume[]) => volumes.map(({ folder }) => folder).join(", ");
const toWord = ({ folder, key }: DeclaredVolume) => `${key}=${folder}`;

/**
 * Finds the folders of a project that its Dockerfile or its Compose file declares as volumes, because the server keeps its data
 * there, such as `data` for `./data:/app/data`. Folders with code are left out.
 *
 * @param root - the folder of the source. The current folder is that of the project
 */
export function findDeclaredVolumes(root: string): DeclaredVolume[] {
  const source = path.resolve(root);
  const found = new Set<string>();
  for (const base of new Set([process.cwd(), source]))
    for (const name of volumesOf(base)) found.add(path.relative(process.cwd(), path.join(base, name)));
  // A volume in another one is part of it.
  const isNested = (folder: string) => [...found].some((other) => folder.startsWith(`${other}/`));
  return [...found]
    .filter((folder) => !isNested(folder) && !holdsCode(folder) && !TEMPORARY_FOLDER.test(folder))
    .slice(0, MAX_VOLUMES)
    .map((folder) => ({
      folder,
      key: path.relative(source, path.resolve(folder)).replaceAll("/", "%2F"),
      isFilled: holdsFiles(folder),
    }));
}

/** A path in a container, and the folder of the project that a developer has there, relative to the Compose file. */
interface Volume {
  target: string;
  source: string | null;
}

/** The volumes below the folder that has the project in an image, relative to that folder. */
function volumesOf(base: string): string[] {
  const dockerfiles = listFiles(base, DOCKERFILES).map((file) => readDockerfileFolders(readFileSync(file, "utf8")));
  const folders = new Set([...dockerfiles.flatMap(({ workFolders }) => workFolders), ...COMMON_FOLDERS]);
  const nameOf = (target: string) => {
    const names = [...folders].map((folder) => path.posix.relative(folder, target)).filter((name) => FOLDER.test(name));
    // The innermost folder has the shortest path to it.
    return names.toSorted((one, other) => one.length - other.length)[0];
  };
  const declared = dockerfiles.flatMap(({ volumes }) => volumes).map((target) => nameOf(target));
  const composed = listFiles(base, COMPOSE_FILES).flatMap((file) =>
    readComposeVolumes(readFileSync(file, "utf8")).map(({ target, source }) => {
      const name = nameOf(target);
      return name === undefined || source === null ? name : path.relative(base, path.resolve(file, "..", source));
    }),
  );
  return [...declared, ...composed].filter((name): name is string => name !== undefined && FOLDER.test(name));
}

function listFiles(base: string, pattern: string): string[] {
  return globSync(pattern, { cwd: base })
    .map((name) => path.join(base, name))
    .filter((file) => isFile(file))
    .slice(0, MAX_FILES);
}

interface ComposeFile {
  services?: Record<string, { volumes?: unknown } | null> | null;
}

/** The volumes of the services that they can write to. */
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
    const [, source = "", target, mode = ""] = /^(?:(.*):)?(\/[^:]+)(?::([\w,]+))?$/.exec(volume) ?? [];
    if (target === undefined || mode.split(",").includes("ro")) return [];
    return [{ target, source: source.startsWith(".") ? source : null }];
  }
  const { type, target, source, read_only: isReadOnly } = (volume ?? {}) as Record<string, unknown>;
  if (typeof target !== "string" || type === "tmpfs" || isReadOnly === true) return [];
  return [{ target, source: type === "bind" && typeof source === "string" && source.startsWith(".") ? source : null }];
}

function holdsCode(folder: string): boolean {
  if (CODE_FOLDER.test(folder) || HAS_EXTENSION.test(folder)) return true;
  if (!existsSync(folder)) return false;
  return !statSync(folder).isDirectory() || globSync(CODE_FILES, { cwd: folder }).length > 0;
}

/** Whether there is more than what keeps an empty folder in a repository. */
function holdsFiles(folder: string): boolean {
  return globSync("**", { cwd: folder }).some(
    (name) => isFile(path.join(folder, name)) && !/^(?:\..*|readme.*)$/i.test(path.basename(name)),
  );
}
