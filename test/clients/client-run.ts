import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ClientProgram, killIfRunning, type ProgramOptions } from "./client-program.ts";
import type { ScriptedModel } from "./scripted-model.ts";

const POLL_MS = 100;

/** What a driver knows about the service and the installed client. Each run has its own home folder. */
export interface ClientRunOptions<Model> {
  /** An empty folder. It becomes the home folder and contains the working folder. */
  folder: string;
  /** The folder with the programs of the client. */
  programs: string;
  gatewayUrl: string;
  model: Model;
  /** Ends all programs. */
  signal: AbortSignal;
  /** Signs in and consents in a browser. */
  authorize(url: string): Promise<void>;
}

/** Keys for an interactive program, and the text that it shows after them. */
export interface TerminalStep {
  /** They can be sent again without harm, because the program may ignore them the first time. */
  keys: string;
  shows: RegExp;
}

/** Runs the programs of one client in a home folder of their own, and opens the URLs that they give to the browser. */
export class ClientRun<Model = ScriptedModel> implements AsyncDisposable {
  readonly gatewayUrl: string;
  readonly model: Model;
  readonly home: string;
  readonly workFolder: string;
  readonly env: Record<string, string>;
  readonly #options: ClientRunOptions<Model>;
  readonly #openedUrls: string;

  static async create<Model>(options: ClientRunOptions<Model>): Promise<ClientRun<Model>> {
    const run = new ClientRun(options);
    await mkdir(run.workFolder, { recursive: true });
    await mkdir(path.join(run.home, "bin"), { recursive: true });
    await run.#replaceBrowser();
    return run;
  }

  private constructor(options: ClientRunOptions<Model>) {
    const { folder, gatewayUrl, model } = options;
    this.#options = options;
    this.gatewayUrl = gatewayUrl;
    this.model = model;
    this.home = path.join(folder, "home");
    this.workFolder = path.join(folder, "work");
    this.#openedUrls = path.join(folder, "opened-urls");
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
    return path.join(this.#options.programs, name);
  }

  /** Writes a file below the home folder. */
  async writeHomeFile(name: string, content: string): Promise<void> {
    const file = path.join(this.home, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }

  /** Runs a program to its end and returns its output. Fails if its exit code is not 0. */
  run(name: string, args: string[], options: ProgramOptions = {}): Promise<string> {
    return this.#start(name, args, options).untilEnd();
  }

  /** Runs a program to its end. Meanwhile, the user consents to the first URL that it opens in the browser. */
  async runWithSignIn(name: string, args: string[], options: ProgramOptions = {}): Promise<string> {
    const program = this.#start(name, args, options);
    const ended = program.untilEnd();
    ended.catch(() => undefined);
    const signedIn = this.signIn();
    signedIn.catch(() => undefined);
    const hasEnded = await Promise.race([signedIn.then(() => false), ended.then(() => true)]);
    if (hasEnded && (await this.#firstOpenedUrl()) === undefined) throw program.failure("did not open a browser");
    await signedIn;
    return ended;
  }

  /** Signs in with an interactive program: sends the keys of each step, consents in the browser, and waits for `done`. */
  async signInInTerminal(
    name: string,
    { env, ready, steps, done }: { env: Record<string, string>; ready: RegExp; steps: TerminalStep[]; done: RegExp },
  ): Promise<void> {
    const program = this.#start(name, [], { env, terminal: true });
    await program.untilShown(ready);
    for (const { keys, shows } of steps) await program.press(keys, shows);
    await this.signIn().catch((error: unknown) => {
      throw program.failure("did not sign in", { cause: error });
    });
    await program.untilShown(done);
    program.end();
  }

  /** Waits until a program opens a URL, signs in and consents. */
  async signIn(): Promise<void> {
    const signal = AbortSignal.any([this.#options.signal, AbortSignal.timeout(BROWSER_TIMEOUT_MS)]);
    while (!signal.aborted) {
      const url = await this.#firstOpenedUrl();
      if (url !== undefined) return this.#options.authorize(url);
      await delay(POLL_MS);
    }
    throw new Error("the client did not open a browser");
  }

  /**
   * Ends the processes of the client. Some clients start processes with a process group of their own, which outlive the
   * client and would write into its home folder while the test removes it.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    for (;;) {
      const pids = await findProcesses(`HOME=${this.home}`);
      if (pids.length === 0) return;
      for (const pid of pids) killIfRunning(pid);
      await delay(POLL_MS);
    }
  }

  #start(name: string, args: string[], { env = {}, ...options }: ProgramOptions): ClientProgram {
    return new ClientProgram([this.program(name), ...args], [name, ...args.slice(0, 1)].join(" "), {
      ...options,
      folder: this.workFolder,
      env: { ...this.env, ...env },
      signal: this.#options.signal,
    });
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

const BROWSER_TIMEOUT_MS = 90_000;

/** Finds the running processes whose environment contains a variable. A zombie has no environment. */
async function findProcesses(variable: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")));
  return pids.filter((_, at) => environments[at]?.split("\0").includes(variable)).map(Number);
}
