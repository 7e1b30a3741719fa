import { globSync } from "node:fs";
import path from "node:path";
import type { DetectedFramework } from "@netlify/build-info";

// Not imported from the library's enums, because that would load the whole library.
const BACKEND_FRAMEWORK = "backend_framework";
const BY_CONFIG_WITHOUT_PACKAGE = 2;
const BY_CONFIG_ALONE = 3;

/** Frameworks whose configurations have names that other projects use too, such as `app.json`, `config.json` and `_config.yml`. */
const COMMON_CONFIGS = new Set(["expo", "hexo", "hugo", "jekyll", "cecil", "wintersmith", "zola", "hydrogen", "remix"]);

/** Detects the frameworks of the project in the current folder, the most specific first. */
export async function detectFrameworks(): Promise<DetectedFramework[]> {
  // Imported on demand: it takes 0.1 s, and a project without dependencies does not need it.
  const [{ Project }, { NodeFS, NoopLogger }] = await Promise.all([
    import("@netlify/build-info"),
    import("@netlify/build-info/node"),
  ]);
  const fs = new NodeFS();
  fs.logger = new NoopLogger();
  const project = new Project(fs, process.cwd(), process.cwd()).setEnvironment({}).setNodeVersion(process.version);
  const found = (await project.detectFrameworksInPath(process.cwd())) ?? [];
  const certain = found.filter((each) => !COMMON_CONFIGS.has(each.id) || !isFoundByConfig(each));
  for (const each of certain) correctFolder(each);
  return certain;
}

function isFoundByConfig({ detected }: DetectedFramework): boolean {
  return [BY_CONFIG_WITHOUT_PACKAGE, BY_CONFIG_ALONE].includes(detected.accuracy);
}

/** The library expects the pages of VitePress in `docs`. They can be in another folder, or at the root. */
function correctFolder({ id, build }: DetectedFramework): void {
  if (id !== "vitepress") return;
  const [config] = globSync(["docs/.vitepress", ".vitepress", "*/.vitepress"]);
  if (config === undefined) return;
  build.command = `vitepress build ${path.dirname(config)}`;
  build.directory = path.join(config, "dist");
}

/** Whether the build of a project with these frameworks produces static files only. */
export function buildsStaticFiles(frameworks: readonly DetectedFramework[]): boolean {
  return frameworks.length > 0 && frameworks.every(({ category }) => (category as string) !== BACKEND_FRAMEWORK);
}

/** Frameworks that libraries are written with too. An app of one of them has an `index.html`. */
const FRAMEWORKS_OF_LIBRARIES = new Set(["svelte", "solid-js", "stencil", "react", "vue", "tanstack-router"]);
const BUILD_TOOL = "build_tool";

/**
 * Whether a package of a workspace with these frameworks and no `index.html` is an app, and not a library.
 *
 * @param hasEntry - whether the package has a script
 */
export function buildsAnApp(frameworks: readonly DetectedFramework[], hasEntry: boolean): boolean {
  return frameworks.some(({ id, category }) => {
    if ((category as string) === BACKEND_FRAMEWORK) return hasEntry;
    return (category as string) !== BUILD_TOOL && !FRAMEWORKS_OF_LIBRARIES.has(id);
  });
}
