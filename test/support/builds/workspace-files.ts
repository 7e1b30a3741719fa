import type { Content } from "./bundle-checkout.ts";

/** A workspace with one app and a library that must be built before it. */
export function workspaceFiles(root: object, ownVersion: string): Record<string, Content> {
  const build = "mkdir dist && cp source.js dist/index.js";
  return {
    "package.json": JSON.stringify({ name: "root", private: true, type: "module", ...root }),
    "packages/text/package.json": JSON.stringify({
      name: "@acme/text",
      version: "1.0.0",
      type: "module",
      main: "dist/index.js",
      scripts: { build },
      dependencies: { greeting: "^1.0.0" },
    }),
    "packages/text/source.js": `export { greeting as text } from "greeting";`,
    "apps/api/package.json": JSON.stringify({
      name: "@acme/api",
      version: "1.0.0",
      type: "module",
      scripts: { build: "mkdir public && echo '<h1>built</h1>' >public/index.html" },
      dependencies: { "@acme/text": ownVersion },
    }),
    "apps/api/wrangler.json": JSON.stringify({
      main: "index.js",
      compatibility_date: "2026-06-01",
      assets: { directory: "public" },
    }),
    "apps/api/index.js": `import { text } from "@acme/text";\nexport default { fetch: () => new Response(text) };`,
  };
}

export const WORKSPACES = ["apps/*", "packages/*"];
