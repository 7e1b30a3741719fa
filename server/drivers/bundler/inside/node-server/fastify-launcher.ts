import path from "node:path";
import { parseArgs } from "node:util";
import { resolveFile, resolveStartFile } from "./find-start-file.ts";
import type { NodeServer } from "./plan-node-server.ts";
import { NODE_SERVER_FOLDER } from "./runtime-folders.ts";
import type { StartCommand } from "./start-command.ts";

/** The options of `fastify start`. */
const OPTIONS = {
  options: { type: "boolean", short: "o" },
  "log-level": { type: "string", short: "l", default: "fatal" },
  prefix: { type: "string", short: "x" },
  "plugin-timeout": { type: "string", short: "T" },
  "body-limit": { type: "string" },
  "trust-proxy-enabled": { type: "boolean" },
  require: { type: "string", short: "r", multiple: true },
  import: { type: "string", short: "i", multiple: true },
  "logging-module": { type: "string", short: "L" },
  config: { type: "string", short: "c" },
  "trust-proxy-ips": { type: "string" },
  "trust-proxy-hop": { type: "string" },
  // Where the server listens, and what developers use.
  port: { type: "string", short: "p" },
  address: { type: "string", short: "a" },
  socket: { type: "string", short: "s" },
  "close-grace-delay": { type: "string", short: "g" },
  "pretty-logs": { type: "boolean", short: "P" },
  watch: { type: "boolean", short: "w" },
  "verbose-watch": { type: "boolean", short: "V" },
  "ignore-watch": { type: "string" },
  "follow-watch": { type: "string" },
  debug: { type: "boolean", short: "d" },
  "debug-port": { type: "string", short: "I" },
  "debug-host": { type: "string" },
} as const;

/** Options that would change what the app does, and have no effect here. */
const IGNORED = ["logging-module", "config", "trust-proxy-ips", "trust-proxy-hop"] as const;

/**
 * Plans the server of `fastify start app.js`, whose file exports a plugin. A module of the platform creates the server and
 * registers the plugin, as fastify-cli does.
 *
 * @returns `null` for another command, or when its file does not exist
 */
export function planFastify(command: StartCommand | null): NodeServer | null {
  if (command?.program !== "fastify" || command.args[0] !== "start") return null;
  const terminator = command.args.indexOf("--");
  const end = terminator < 0 ? command.args.length : terminator;
  const args = command.args.slice(1, end);
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true, strict: false });
  const entry = resolveStartFile(positionals[0] ?? "");
  if (entry === undefined) return null;
  const pluginArgs = joinValues(command.args.slice(end + 1));
  const plugin = parseArgs({ args: pluginArgs, allowPositionals: true, strict: false }).values;
  const server = {
    logger: { level: values["log-level"] },
    pluginTimeout: toNumber(values["plugin-timeout"]),
    bodyLimit: toNumber(values["body-limit"]),
    trustProxy: values["trust-proxy-enabled"],
  };
  const preloads = [values.require ?? [], values.import ?? []].flat().filter((name) => typeof name === "string");
  return {
    entry,
    launcher: launcher(entry, preloads, {
      server,
      plugin: { ...plugin, ...(values.prefix !== undefined && { prefix: values.prefix }) },
      usesOptions: values.options === true,
    }),
    warnings: IGNORED.filter((name) => Object.hasOwn(values, name)).map(
      (name) => `The option --${name} of fastify start has no effect on the platform.`,
    ),
  };
}

function launcher(entry: string, preloads: readonly string[], options: object): string {
  const imports = preloads.map((name) => `import ${JSON.stringify(fromLauncher(resolveFile(name)) ?? name)};\n`);
  return `${imports.join("")}import Fastify from "fastify";
import * as app from ${JSON.stringify(fromLauncher(entry))};
import { startFastify } from "./runtime/fastify.mjs";
await startFastify(Fastify, app, ${JSON.stringify(options)});
`;
}

function fromLauncher(file: string | undefined): string | undefined {
  return file && path.posix.relative(NODE_SERVER_FOLDER, file);
}

/** Writes `--name value` as `--name=value`, because the options of a plugin are not known. */
function joinValues(args: readonly string[]): string[] {
  return args
    .join("\n")
    .replaceAll(/^(--[^=\n]+)\n(?!-)/gm, "$1=")
    .split("\n");
}

function toNumber(value: unknown): number | undefined {
  return typeof value === "string" ? Number(value) : undefined;
}
