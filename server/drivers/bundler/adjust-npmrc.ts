import path from "node:path";
import type { BuildRegistry } from "../../../domain/ports/bundler.ts";
import { REPLACED_REGISTRY } from "./inside/replaced-registry.ts";
import { readHead } from "./package-manager-version.ts";

/** Registries with the packages of the public one. The mirror has them too. */
const PUBLIC = /^https?:\/\/(registry\.npmjs\.org|registry\.yarnpkg\.com|registry\.npmmirror\.com)(\/|$)/;

const SCOPE = /^\s*["']?(@[\w~.-]+):registry["']?\s*=\s*["']?([^\s"']+)/gm;
const VARIABLE = /\$\{([A-Za-z_]\w*)(?:[?:-][^}]*)?\}/g;

/** Variables that the build sets. */
const RESERVED = /^(PATH|HOME|NODE_OPTIONS|LD_.*|npm_config_.*|YARN_.*|TOOLCHAIN_.*)$/i;

/** What makes the .npmrc of a project work in an install. */
export interface NpmrcAdjustments {
  env: Readonly<Record<string, string>>;
  /** Options of npm. For the other package managers, inside/run-install.ts changes the file. */
  npmOptions: readonly string[];
}

/**
 * Returns the mirror for scopes of the public registry, and a value for variables of its author's machine, such as the token of
 * a registry, without which some package managers end. Other registries stay, and cannot be reached.
 */
export async function adjustNpmrc(
  directory: string,
  registryUrl: string,
  registry: BuildRegistry | null,
): Promise<NpmrcAdjustments> {
  const text = await readHead(path.join(directory, ".npmrc"));
  const isServed = (url: string) => PUBLIC.test(url) || isOf(registry, url);
  const scopes = [...text.matchAll(SCOPE)].filter(([, , url = ""]) => isServed(url)).map(([, scope = ""]) => scope);
  const variables = [...text.matchAll(VARIABLE)].map(([, name = ""]) => name).filter((name) => !RESERVED.test(name));
  return {
    env: {
      ...Object.fromEntries(variables.map((name) => [name, "none"])),
      // Settings of Yarn 2 and later, and of Bun, commonly name this variable.
      ...(registry && { NPM_TOKEN: "none", [REPLACED_REGISTRY]: registry.url }),
    },
    npmOptions: scopes.map((scope) => `--${scope}:registry=${registryUrl}`),
  };
}

function isOf(registry: BuildRegistry | null, url: string): boolean {
  return registry !== null && `${url.replace(/\/$/, "")}/` === registry.url;
}
