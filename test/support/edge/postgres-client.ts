import { build } from "esbuild";

/** Returns the `pg` package as one CommonJS module, for apps that are published without an install. */
export function bundlePostgresClient(): Promise<string> {
  return bundlePackage("pg");
}

/** Returns postgres.js as one CommonJS module. */
export function bundlePostgresJs(): Promise<string> {
  return bundlePackage("postgres");
}

async function bundlePackage(name: string): Promise<string> {
  const stdin = { contents: `module.exports = require("${name}")`, resolveDir: import.meta.dirname };
  const external = ["pg-native", "pg-cloudflare"];
  const { outputFiles } = await build({ stdin, bundle: true, platform: "node", format: "cjs", external, write: false });
  return outputFiles[0]?.text ?? "";
}

/** A project with a start script, a migration, and the client as a package of its own, so that an install needs no registry. */
export async function postgresProject(): Promise<Record<string, string>> {
  return {
    "package.json": JSON.stringify({
      dependencies: { pg: "file:./pg" },
      scripts: { start: "node server.js", migrate: "node migrate.js" },
    }),
    "pg/package.json": JSON.stringify({ name: "pg", version: "1.0.0", main: "index.js" }),
    "pg/index.js": await bundlePostgresClient(),
  };
}
