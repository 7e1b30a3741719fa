import { existsSync, readFileSync } from "node:fs";

/** Settings that say from where packages come, or what tools connect with. The build has its own. */
const RESERVED =
  /registry|auth|token|password|username|proxy|^ca|cert|^key|prefix|cache|userconfig|globalconfig|script-shell|node-options|^\/\/|:/i;

/**
 * The settings of the project's .npmrc as npm gives them to scripts: `puppeteer_skip_download=true` becomes
 * `npm_config_puppeteer_skip_download=true`.
 */
export function npmrcVariables(): Record<string, string> {
  const text = existsSync(".npmrc") ? readFileSync(".npmrc", "utf8") : "";
  const settings = [...text.matchAll(/^\s*([\w.-]+)\s*=\s*["']?([^"'\r\n]*?)["']?\s*$/gm)];
  return Object.fromEntries(
    settings
      .filter(([, name = ""]) => !RESERVED.test(name))
      .map(([, name = "", value = ""]) => [`npm_config_${name.replaceAll("-", "_").toLowerCase()}`, value]),
  );
}
