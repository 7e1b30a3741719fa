import { findDependency, type InstalledPackage, readManifest } from "./find-packages.ts";

/**
 * The variables with which an old native package compiles. The headers of Node.js 24 select C++20. The constructors of
 * node-addon-api 3 and older, which bcrypt 5.0 and sqlite3 5.0 use, are invalid in it. Modules for Node-API compile as C++17 too.
 */
export function compilerVariables(
  { folder, manifest }: Pick<InstalledPackage, "folder" | "manifest">,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const isUsed = Object.hasOwn(manifest.dependencies ?? {}, "node-addon-api");
  const library = isUsed ? findDependency(folder, "node-addon-api") : null;
  const version = library === null ? null : readManifest(library)?.version;
  if (typeof version !== "string" || !/^[123]\./.test(version)) return {};
  return { CXXFLAGS: [env["CXXFLAGS"], "-std=gnu++17"].filter((flag) => flag !== undefined).join(" ") };
}
