import type { DetectedFramework } from "@netlify/build-info";

// Written out, because to import the enum is to import everything.
const BACKEND = "backend_framework";

/** The frameworks of the project in the current folder, the most telling first. */
export async function detectFrameworks(): Promise<DetectedFramework[]> {
  // Imported when needed, since a project without dependencies has no use for the 0.1 s it takes.
  const [{ Project }, { NodeFS, NoopLogger }] = await Promise.all([
    import("@netlify/build-info"),
    import("@netlify/build-info/node"),
  ]);
  const fs = new NodeFS();
  fs.logger = new NoopLogger();
  const project = new Project(fs, process.cwd(), process.cwd()).setEnvironment({}).setNodeVersion(process.version);
  return (await project.detectFrameworksInPath(process.cwd())) ?? [];
}

/** Whether a project of these frameworks is a folder of static files once it is built. */
export function buildsStaticFiles(frameworks: readonly DetectedFramework[]): boolean {
  return frameworks.length > 0 && frameworks.every((framework) => (framework.category as string) !== BACKEND);
}
