/** The modules of two packages, of which the first one imports the second one. */
export const GREETING = `export { words as greeting } from "@scope/words";`;
export const WORDS = `export const words = "hello from the registry";`;

/** A script that imports the first package. */
export const GREETING_WORKER = `import { greeting } from "greeting";\nexport default { fetch: () => new Response(greeting) };`;

/** The packages for a test registry. */
export const GREETING_PACKAGES = [
  {
    name: "greeting",
    version: "1.0.0",
    files: { "index.js": GREETING },
    manifest: { type: "module", dependencies: { "@scope/words": "2.0.0" } },
  },
  {
    name: "@scope/words",
    version: "2.0.0",
    files: { "index.js": WORDS },
    manifest: { type: "module" },
  },
];

/** The package.json of a project that depends on the first package. */
export const greetingManifest = (fields: object = {}): string =>
  JSON.stringify({ name: "app", type: "module", dependencies: { greeting: "^1.0.0" }, ...fields });

/** A project of npm with a lockfile that names another host. */
export function greetingNpmProject(fields: object = {}): Readonly<Record<string, string>> {
  const packages = {
    "": { name: "app", dependencies: { greeting: "^1.0.0" } },
    "node_modules/greeting": {
      version: "1.0.0",
      resolved: "https://registry.example/greeting/-/greeting-1.0.0.tgz",
      dependencies: { "@scope/words": "2.0.0" },
    },
    "node_modules/@scope/words": {
      version: "2.0.0",
      resolved: "https://registry.example/@scope/words/-/words-2.0.0.tgz",
    },
  };
  return {
    "package.json": greetingManifest(fields),
    "package-lock.json": JSON.stringify({ name: "app", lockfileVersion: 3, packages }),
    "index.js": "",
  };
}
