import { build } from "esbuild";

/** Returns the `pg` package as one CommonJS module, for apps that are published without an install. */
export async function bundlePostgresClient(): Promise<string> {
  const stdin = { contents: `module.exports = require("pg")`, resolveDir: import.meta.dirname };
  const external = ["pg-native", "pg-cloudflare"];
  const { outputFiles } = await build({ stdin, bundle: true, platform: "node", format: "cjs", external, write: false });
  return outputFiles[0]?.text ?? "";
}
