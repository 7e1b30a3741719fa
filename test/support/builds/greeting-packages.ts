/** The modules of two packages, of which the first one imports the second one. */
export const GREETING = `export { words as greeting } from "@scope/words";`;
export const WORDS = `export const words = "hello from the registry";`;

/** A script that imports the first package. */
export const GREETING_WORKER = `import { greeting } from "greeting";\nexport default { fetch: () => new Response(greeting) };`;

/** The packages for a test registry. The install script would break the first one. */
export const GREETING_PACKAGES = [
  {
    name: "greeting",
    version: "1.0.0",
    files: { "index.js": GREETING },
    manifest: {
      type: "module",
      dependencies: { "@scope/words": "2.0.0" },
      scripts: { postinstall: "echo >index.js" },
    },
  },
  {
    name: "@scope/words",
    version: "2.0.0",
    files: { "index.js": WORDS },
    manifest: { type: "module" },
  },
];
