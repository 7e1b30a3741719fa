/** The result of `service_execute`. */
export interface Execution {
  stdout: string;
  stderr: string;
  exit_code: number;
  truncated: boolean;
  timed_out: boolean;
}

/** A program that tries to exceed a limit or to leave its sandbox. */
export interface HostileProgram {
  description: string;
  code: string;
  /** Whether the attempt failed. */
  isContained(execution: Execution): boolean;
}

const EXIT_TIMED_OUT = 124;
const EXIT_KILLED = 137;
const MAX_OUTPUT_CHARACTERS = 64 * 1024;

const ENDLESS_LOOP: HostileProgram = {
  description: "an endless loop",
  code: "while (true) {}",
  isContained: ({ exit_code, timed_out }) => timed_out && exit_code === EXIT_TIMED_OUT,
};

const MUCH_MEMORY: HostileProgram = {
  description: "10 GB of memory",
  code: `const chunks = [];
    for (let count = 0; count < 10 * 1024; count++) chunks.push(new Uint8Array(1024 * 1024).fill(1));
    console.log("ALLOCATED");`,
  isContained: ({ exit_code, stdout }) => exit_code !== 0 && stdout === "",
};

/** Tries every way to start a process or a thread for 2 s. Any success is printed. */
const FORK_BOMB: HostileProgram = {
  description: "a fork bomb",
  code: `import { spawnSync } from "node:child_process";
    const bomb = ["-c", "bomb() { bomb | bomb & }; bomb"];
    const attempts = [
      () => new Deno.Command("/bin/sh", { args: bomb }).spawn(),
      () => { const { error } = spawnSync("/bin/sh", bomb); if (error) throw error; },
      () => new Worker("data:text/javascript,while(true){}", { type: "module" }),
    ];
    for (const deadline = Date.now() + 2000; Date.now() < deadline; )
      for (const attempt of attempts) try { attempt(); console.log("STARTED", String(attempt)); } catch { await null; }
    console.log("none started");`,
  isContained: ({ stdout }) => stdout === "none started\n",
};

const MUCH_OUTPUT: HostileProgram = {
  description: "1 GB of output",
  code: `const line = "x".repeat(1024 * 1024 - 1);
    for (let count = 0; count < 1024; count++) console.log(line);`,
  isContained: ({ exit_code, stdout, truncated }) =>
    exit_code === EXIT_KILLED && truncated && stdout.length <= MAX_OUTPUT_CHARACTERS,
};

const STATIC_IMPORT: HostileProgram = {
  description: "a static import of /etc/passwd",
  code: `import secret from "file:///etc/passwd" with { type: "text" };
    console.log(secret);`,
  isContained: ({ exit_code, stdout, stderr }) => exit_code !== 0 && stdout === "" && !stderr.includes("root:"),
};

/** The program itself reports the result: only it can see whether an address responds. */
function requestProgram(description: string, url: string): HostileProgram {
  return {
    description,
    code: `try { console.log("REACHED", (await fetch(${JSON.stringify(url)})).status); } catch { console.log("blocked"); }`,
    isContained: ({ stdout }) => stdout === "blocked\n",
  };
}

/** @param publicUrl - the URL of the service on this machine */
export function hostilePrograms(publicUrl: string): HostileProgram[] {
  return [
    ENDLESS_LOOP,
    MUCH_MEMORY,
    FORK_BOMB,
    MUCH_OUTPUT,
    STATIC_IMPORT,
    requestProgram("a request to the service's own port", `${publicUrl}/healthz`),
    requestProgram("a request to the internet", "https://example.com"),
  ];
}
