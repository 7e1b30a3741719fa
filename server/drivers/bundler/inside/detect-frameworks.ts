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
