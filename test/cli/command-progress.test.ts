import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import type { Argument, Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigFile } from "../../clients/cli/src/config-file.ts";
import type { Context } from "../../clients/cli/src/context.ts";
import { readEnvironment } from "../../clients/cli/src/environment.ts";
import { COMMANDS } from "../../clients/cli/src/generated/commands.ts";
import { Output, type OutputStream } from "../../clients/cli/src/output.ts";
import { createProgram } from "../../clients/cli/src/program.ts";
import { Session } from "../../clients/cli/src/session.ts";
import { type LoopbackServer, startLoopbackServer } from "../support/loopback-server.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

/** Commands that call no service, or not for a person. */
const WITHOUT_PROGRESS = ["mcp", "mcp install", "agents hook run", "completion", "complete"];
const ID = "5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";
/** Values of arguments and options that are not any text, by their names. */
const VALUES: Readonly<Record<string, string>> = {
  source: "acme/site",
  number: "1",
  revision: "1",
  version: "1",
  entries: "[]",
};

let folder: TemporaryFolder;
/** A service that never responds. */
let service: LoopbackServer;
let onRequest: () => void = () => undefined;

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startLoopbackServer(() => onRequest());
  await writeFile(path.join(folder.path, "a.md"), "# Title\n");
  await writeFile(path.join(folder.path, "a.jsonl"), "{}\n");
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

function signIn(): Promise<void> {
  const credentials = { kind: "oauth", client_id: "c", access_token: "a", expires_at: 1e15, refresh_token: "r" };
  const config = JSON.stringify({ services: { [service.url]: { credentials } } });
  return writeFile(path.join(folder.path, "svc/config.json"), config);
}

/** A terminal that records what is written to it. */
function createTerminal(): OutputStream & { text(): string } {
  let written = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  return Object.assign(stream, { isTTY: true, columns: 80, text: () => written });
}

/** Runs a command until its first request, and returns what its terminal shows then. */
async function shownBeforeResponse(args: readonly string[], stdin: Readable): Promise<string> {
  await signIn();
  const terminal = createTerminal();
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  onRequest = resolve;
  const interruption = new AbortController();
  const environment = readEnvironment({ XDG_CONFIG_HOME: folder.path, SVC_URL: service.url, CI: "1" });
  const output = new Output({ stdout: new PassThrough(), stderr: terminal, json: false, color: false });
  const context: Context = {
    environment,
    session: new Session(new ConfigFile(environment.configFolder), environment, {}),
    output,
    stdin,
    stderr: terminal,
    signal: interruption.signal,
  };
  const running = createProgram(() => context)
    .exitOverride()
    .parseAsync(args, { from: "user" });
  const ended = running.then(
    () => "ended",
    (error: unknown) => error,
  );
  // A command that ends without a request is an error of this test.
  expect([args, await Promise.race([requested, ended])]).toEqual([args, undefined]);
  const shown = terminal.text();
  interruption.abort(new Error("enough"));
  await ended;
  output.endProgress();
  return shown;
}

interface Leaf {
  words: string[];
  command: Command;
}

function listCommands(command: Command, words: string[] = []): Leaf[] {
  const below = command.commands.flatMap((each) => listCommands(each, [...words, each.name()]));
  return below.length === 0 || words.join(" ") === "mcp" ? [{ words, command }, ...below] : below;
}

function valueOf(
  { name, argChoices: [choice] = [] }: Pick<Argument, "argChoices"> & { name: string },
  of: string,
): string {
  if (name === "file") return path.join(folder.path, of.startsWith("sessions") ? "a.jsonl" : "a.md");
  return choice ?? VALUES[name] ?? ID;
}

function argumentsOf({ words, command }: Leaf): string[] {
  const name = words.join(" ");
  const given = command.registeredArguments
    .filter(({ required }) => required)
    .map((each) => valueOf({ name: each.name(), argChoices: each.argChoices }, name));
  const spec = COMMANDS.find((each) => each.words.join(" ") === name);
  const required = command.options.filter(
    (option) =>
      option.mandatory || spec?.parameters.some((each) => each.isRequired && option.long === `--${each.name}`),
  );
  const options = required.flatMap((option) => [
    option.long ?? "",
    ...(option.required ? [valueOf({ name: option.name(), argChoices: option.argChoices }, name)] : []),
  ]);
  const confirmed = command.options.some(({ long }) => long === "--yes") ? ["--yes"] : [];
  return [...words, ...given, ...options, ...confirmed];
}

test("every command shows on a terminal what it waits for, before the service responds", async () => {
  await mkdir(path.join(folder.path, "svc"), { recursive: true });
  const leaves = listCommands(createProgram(() => expect.unreachable()));
  const calling = leaves.filter(({ words }) => !WITHOUT_PROGRESS.includes(words.join(" ")));
  expect(calling.length).toBeGreaterThan(COMMANDS.length);
  for (const leaf of calling) {
    const args = argumentsOf(leaf);
    expect([args, await shownBeforeResponse(args, Readable.from([]))]).toEqual([args, expect.stringMatching(/\S+ …/)]);
  }
});

test("a terminal that cannot move its cursor gets a line for each text, without control characters", () => {
  const stderr = createTerminal();
  const output = new Output({ stdout: new PassThrough(), stderr, json: false, color: false, isDumbTerminal: true });
  for (const text of ["queued …", "queued …", "building …"]) output.progress(text);
  output.message("Done.");
  output.endProgress();
  expect(stderr.text()).toBe("queued …\nbuilding …\nDone.\n");
});

test("storing a token shows that the token is checked", async () => {
  for (const token of ["svk_key", "svp_token"])
    expect(await shownBeforeResponse(["login", "--token"], Readable.from([token]))).toMatch(/Checking the .* …/);
});
