import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ScriptedModel } from "./scripted-model.ts";

const PROGRAM_TIMEOUT_MS = 90_000;

/** What a driver knows about the service and the installed client. Each run has its own home folder. */
export interface ClientRunOptions {
  /** An empty folder. It becomes the home folder and contains the working folder. */
  folder: string;
  /** The folder with the programs of the client. */
  programs: string;
  gatewayUrl: string;
  model: ScriptedModel;
  /** Signs in and consents in a browser. */
  authorize(url: string): Promise<void>;
}

interface ProgramOptions {
  env?: Record<string, string>;
  /** Runs the program in a pseudo-terminal. */
  terminal?: boolean;
}

/** Runs the programs of one client in a home folder of their own, and opens the URLs that they give to the browser. */
export class ClientRun implements AsyncDisposable {
  readonly gatewayUrl: string;
  readonly model: ScriptedModel;
  readonly home: string;
  readonly workFolder: string;
  readonly env: Record<string, string>;
  readonly #programs: string;
  readonly #openedUrls: string;
  readonly #authorize: (url: string) => Promise<void>;
  readonly #running = new Set<ChildProcess>();

  static async create(options: ClientRunOptions): Promise<ClientRun> {
    const run = new ClientRun(options);
    await mkdir(run.workFolder, { recursive: true });
    await mkdir(path.join(run.home, "bin"), { recursive: true });
    await run.#replaceBrowser();
    return run;
  }

  private constructor({ folder, programs, gatewayUrl, model, authorize }: ClientRunOptions) {
    this.gatewayUrl = gatewayUrl;
    this.model = model;
    this.home = path.join(folder, "home");
    this.workFolder = path.join(folder, "work");
    this.#programs = programs;
    this.#openedUrls = path.join(folder, "opened-urls");
    this.#authorize = authorize;
    const browser = path.join(this.home, "bin", "xdg-open");
    this.env = {
      PATH: [path.dirname(browser), path.dirname(process.execPath), process.env["PATH"] ?? ""].join(path.delimiter),
      HOME: this.home,
      BROWSER: browser,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      NO_COLOR: "1",
    };
  }

  /** Returns the path of a program of the client. */
  program(name: string): string {
    return path.join(this.#programs, name);
  }

  /** Writes a file below the home folder. */
  async writeHomeFile(name: string, content: string): Promise<void> {
    const file = path.join(this.home, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }

  /** Runs a program to its end and returns its output. Fails if its exit code is not 0. */
  async run(name: string, args: string[], options: ProgramOptions = {}): Promise<string> {
    const { child, output } = this.#start(name, args, options);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    if (code !== 0) throw new Error(`${name} ${args[0]} ended with ${signal ?? code}:\n${output().slice(-4000)}`);
    return output();
  }

  /** Runs a program to its end. Meanwhile, the user consents to the first URL that it opens in the browser. */
  async runWithSignIn(name: string, args: string[], options: ProgramOptions = {}): Promise<string> {
    const ended = this.run(name, args, options);
    ended.catch(() => undefined);
    const signedIn = this.signIn();
    signedIn.catch(() => undefined);
    const first = await Promise.race([signedIn.then(() => null), ended]);
    if (first !== null && (await this.#firstOpenedUrl()) === undefined)
      throw new Error(`${name} ${args[0]} did not open a browser:\n${first.slice(-4000)}`);
    await signedIn;
    return ended;
  }

  /** Runs an interactive program until its output matches `done`. Presses Enter when the output matches `confirm`. */
  async signInInTerminal(
    name: string,
    args: string[],
    { env, confirm, done }: { env: Record<string, string>; confirm: RegExp; done: RegExp },
  ): Promise<void> {
    const { child, output } = this.#start(name, args, { env, terminal: true });
    let confirmed = false;
    const closed = once(child, "close");
    child.stdout.on("data", () => {
      if (!confirm.test(output()) || confirmed) return;
      confirmed = true;
      // The dialog reads keys only after it is drawn.
      setTimeout(() => child.stdin.write("\r"), 2000);
    });
    await this.signIn().catch((error: unknown) => {
      throw new Error(`${name} did not sign in:\n${output().slice(-4000)}`, { cause: error });
    });
    const deadline = Date.now() + PROGRAM_TIMEOUT_MS;
    while (!done.test(output())) {
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`${name} did not report that it signed in:\n${output().slice(-4000)}`);
      await delay(100);
    }
    killGroup(child);
    await closed;
  }

  /** Waits until a program opens a URL, signs in and consents. */
  async signIn(): Promise<void> {
    const deadline = Date.now() + PROGRAM_TIMEOUT_MS;
    while (Date.now() < deadline) {
      const url = await this.#firstOpenedUrl();
      if (url !== undefined) return this.#authorize(url);
      await delay(100);
    }
    throw new Error("the client did not open a browser");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of [...this.#running]) {
      const closed = once(child, "close");
      killGroup(child);
      await closed;
    }
  }

  #start(name: string, args: string[], { env = {}, terminal = false }: ProgramOptions) {
    const command = [this.program(name), ...args];
    const [file = "", ...rest] = terminal
      ? ["python3", "-c", RUN_IN_TERMINAL, "sh", "-c", RESIZE, "sh", ...command]
      : command;
    const child = spawn(file, rest, {
      cwd: this.workFolder,
      env: { ...this.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    if (!terminal) child.stdin.end();
    this.#running.add(child);
    const timer = setTimeout(() => killGroup(child), PROGRAM_TIMEOUT_MS);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += String(chunk);
      });
    child.once("close", () => {
      clearTimeout(timer);
      this.#running.delete(child);
    });
    return { child, output: () => output };
  }

  async #firstOpenedUrl(): Promise<string | undefined> {
    const urls = await readFile(this.#openedUrls, "utf8").catch(() => "");
    return urls.split("\n").find((url) => url !== "");
  }

  /** Puts a program on the path that records URLs instead of opening them. */
  async #replaceBrowser(): Promise<void> {
    const file = this.env["BROWSER"] ?? "";
    await writeFile(file, `#!/bin/sh\nprintf '%s\\n' "$1" >> '${this.#openedUrls}'\n`);
    await chmod(file, 0o755);
  }
}

/** A terminal without a size shows nothing. */
const RESIZE = 'stty rows 50 cols 200; exec "$@"';

const RUN_IN_TERMINAL = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
`;

/** Ends a program with everything that it started. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
