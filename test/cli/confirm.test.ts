import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { ConfigFile } from "../../clients/cli/src/config-file.ts";
import { confirm, type Context } from "../../clients/cli/src/context.ts";
import { readEnvironment } from "../../clients/cli/src/environment.ts";
import { Output } from "../../clients/cli/src/output.ts";
import { Session } from "../../clients/cli/src/session.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const NOTHING = expect.objectContaining({ name: "Interrupted", message: "Nothing was changed." }) as unknown;

/** A command on a terminal, whose user types `keys`. */
function onTerminal(keys: string, signal = new AbortController().signal): Context & { shown(): Promise<string> } {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  stdin.write(keys);
  const environment = readEnvironment({ XDG_CONFIG_HOME: "/nowhere" });
  return {
    environment,
    session: new Session(new ConfigFile(environment.configFolder), environment, {}),
    output: new Output({ stdout: new PassThrough(), stderr, json: false, color: false }),
    stdin,
    stderr,
    signal,
    shown: () => text(stderr.end()),
  };
}

test("a deletion is confirmed by y or yes, and nothing is changed by anything else", async () => {
  for (const reply of ["y", "Y", "yes", " y "])
    await expect(confirm(onTerminal(`${reply}\n`), "Delete it?", false)).resolves.toBeUndefined();
  for (const reply of ["", "n", "yeah"])
    await expect(confirm(onTerminal(`${reply}\n`), "Delete it?", false)).rejects.toEqual(NOTHING);
});

test("Ctrl-C and Ctrl-D at the question end the command, and nothing is changed", async () => {
  for (const key of [CTRL_C, CTRL_D]) {
    const context = onTerminal(key);
    await expect(confirm(context, "Delete it?", false)).rejects.toEqual(NOTHING);
    expect(await context.shown()).toMatch(/Delete it\? \[y\/N\] [^]*\n$/);
  }
});

test("a signal at the question ends the command, and nothing is changed", async () => {
  const terminated = AbortSignal.abort(new Error("terminated"));
  await expect(confirm(onTerminal("", terminated), "Delete it?", false)).rejects.toEqual(NOTHING);
});

test("--yes asks nothing", async () => {
  const context = onTerminal("");
  await confirm(context, "Delete it?", true);
  expect(await context.shown()).toBe("");
});
