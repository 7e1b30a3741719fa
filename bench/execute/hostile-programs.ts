/** What `service_execute` returns. */
export interface Execution {
  stdout: string;
  stderr: string;
  exit_code: number;
  truncated: boolean;
  timed_out: boolean;
}

/** A program that wants more than it may have. */
export interface HostileProgram {
  what: string;
  code: string;
  /** Whether it got none of it. */
  isContained(end: Execution): boolean;
}

const TIMED_OUT = 124;
const STOPPED = 137;
const KEPT_CHARACTERS = 64 * 1024;

const ENDLESS_LOOP: HostileProgram = {
  what: "an endless loop",
  code: "while (true) {}",
  isContained: ({ exit_code, timed_out }) => timed_out && exit_code === TIMED_OUT,
};

const MUCH_MEMORY: HostileProgram = {
  what: "10 GB of memory",
  code: `const kept = [];
    for (let at = 0; at < 10 * 1024; at++) kept.push(new Uint8Array(1024 * 1024).fill(1));
    console.log("GOT IT");`,
  isContained: ({ exit_code, stdout }) => exit_code !== 0 && stdout === "",
};

/** Each way to start something is tried for as long as the program lives, and what has started would say so. */
const FORK_BOMB: HostileProgram = {
  what: "a fork bomb",
  code: `import { spawnSync } from "node:child_process";
    const bomb = ["-c", "bomb() { bomb | bomb & }; bomb"];
    const ways = [
      () => new Deno.Command("/bin/sh", { args: bomb }).spawn(),
      () => { const { error } = spawnSync("/bin/sh", bomb); if (error) throw error; },
      () => new Worker("data:text/javascript,while(true){}", { type: "module" }),
    ];
    for (const until = Date.now() + 2000; Date.now() < until; )
      for (const way of ways) try { way(); console.log("STARTED", String(way)); } catch { await null; }
    console.log("none started");`,
  isContained: ({ stdout }) => stdout === "none started\n",
};

const MUCH_OUTPUT: HostileProgram = {
  what: "1 GB of output",
  code: `const line = "x".repeat(1024 * 1024 - 1);
    for (let at = 0; at < 1024; at++) console.log(line);`,
  isContained: ({ exit_code, stdout, truncated }) =>
    exit_code === STOPPED && truncated && stdout.length <= KEPT_CHARACTERS,
};

const STATIC_IMPORT: HostileProgram = {
  what: "a static import of /etc/passwd",
  code: `import secret from "file:///etc/passwd" with { type: "text" };
    console.log(secret);`,
  isContained: ({ exit_code, stdout, stderr }) => exit_code !== 0 && stdout === "" && !stderr.includes("root:"),
};

/** Told by the program, because only it can see that an address answers. */
function reaching(what: string, url: string): HostileProgram {
  return {
    what,
    code: `try { console.log("REACHED", (await fetch(${JSON.stringify(url)})).status); } catch { console.log("closed"); }`,
    isContained: ({ stdout }) => stdout === "closed\n",
  };
}

/** @param publicUrl - where the service itself answers on this machine */
export function hostilePrograms(publicUrl: string): HostileProgram[] {
  return [
    ENDLESS_LOOP,
    MUCH_MEMORY,
    FORK_BOMB,
    MUCH_OUTPUT,
    STATIC_IMPORT,
    reaching("a request to the service's own port", `${publicUrl}/healthz`),
    reaching("a request to the internet", "https://example.com"),
  ];
}
