import { builtinModules } from "node:module";

/** An import that a tool could not resolve: of Node.js, Vite, Rollup, esbuild, webpack, Next.js, TypeScript, Nitro, Nuxt. */
const IMPORT =
  /(?:Cannot find (?:module|package) |Can't resolve |(?:Could not|Cannot) resolve (?:module )?|[Ff]ailed to resolve import |The module (?=`[^`]+` could not be loaded))['"`]([^'"`]+)['"`]/;

/** Prefixes that projects use for their own files. */
const ALIAS = /^(@\/|~|#|\$|src\/)/;

/** The advice for a file of the project that does not exist. */
export const ABSENT_FILE =
  "The file is not in the repository. Check its path with upper and lower case, and that .gitignore does not exclude it. If a tool generates it, run the tool in the build script.";

/** The advice for a cause that names an import; `null` for any other cause. */
export function adviseOnImport(cause: string): string | null {
  const specifier = IMPORT.exec(cause)?.[1];
  if (specifier === undefined) return null;
  if (specifier.startsWith("node:") || builtinModules.includes(specifier))
    return 'Add "compatibility_flags": ["nodejs_compat"] to the wrangler configuration, and deploy again. The module is part of Node.js.';
  if (/^[./]/.test(specifier) || ALIAS.test(specifier)) return ABSENT_FILE;
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  return `Add ${name} to the dependencies in package.json, commit the lockfile, and deploy again.`;
}
