import type { DetectedFramework } from "@netlify/build-info";

// Not imported from the library's enum, because that would load the whole library.
const BACKEND_FRAMEWORK = "backend_framework";

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
  return (await project.detectFrameworksInPath(process.cwd())) ?? [];
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
