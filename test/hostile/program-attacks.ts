import { randomUUID } from "node:crypto";
import { hostilePrograms } from "../../bench/execute/hostile-programs.ts";
import { WORKSPACE_LIMITS } from "../../domain/ports/agent-workspaces.ts";
import { MAX_OUTPUT_BYTES, type RunResult } from "../../domain/ports/code-runtime.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { SANDBOX_FILES } from "../../server/drivers/code-runtime/deno-command.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { openDenoRuntime } from "../support/procedures/deno-runtime.ts";
import { runProgram } from "../support/procedures/run-program.ts";
import { type Attack, type AttackEnvironment, judgeHeld } from "./attack.ts";

const TIMEOUT_MS = 4000;

/** Each program prints how much it holds. */
const MEMORY_PROGRAMS: Readonly<Record<string, string>> = {
  "Memory outside the JavaScript heap": `const held = [];
    for (let n = 1; n <= 512; n++) { held.push(new WebAssembly.Memory({ initial: 256 })); new Uint8Array(held.at(-1).buffer).fill(1); console.log(n * 16); }`,
  "Memory in shared buffers": `const held = [];
    for (let n = 1; n <= 512; n++) { held.push(new SharedArrayBuffer(16 * 1024 * 1024)); new Uint8Array(held.at(-1)).fill(1); console.log(n * 16); }`,
};
const MEMORY_MB = 512;

const WORKSPACE_MB = WORKSPACE_LIMITS.bytes / 1024 ** 2;

/** Holds files that have no name, so that no measurement of the folder finds them, and prints their size in MiB. */
const FILL_WORKSPACE = `const held = [];
  for (let n = 1; n <= 512; n++) {
    held.push(Deno.openSync("/workspace/file", { create: true, write: true }));
    Deno.removeSync("/workspace/file");
    for (const bytes = new Uint8Array(1024 ** 2); bytes.length > 0; ) if (held.at(-1).writeSync(bytes) === bytes.length) break;
    console.log(n);
  }`;

const SECRET = "secret of another organization";
/** Leaves a secret in a file, in the name of a file, and in a file without a name. */
const LEAVE_SECRET = `for (const path of ["secret", "a/b/secret", "${SECRET}"]) {
    Deno.mkdirSync("/workspace/" + path.split("/").slice(0, -1).join("/"), { recursive: true });
    Deno.writeTextFileSync("/workspace/" + path, "${SECRET}");
  }`;
/** Prints every name and content that it can reach, from files that it fills with nothing but their size too. */
const FIND_SECRET = `const visit = (folder) => {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      console.log(name);
      if (isDirectory) visit(folder + "/" + name);
      else console.log(Deno.readTextFileSync(folder + "/" + name));
    }
  };
  Deno.openSync("/workspace/unwritten", { create: true, write: true }).truncateSync(8 * 1024 ** 2);
  console.log(Deno.readTextFileSync("/workspace/unwritten").replaceAll("\\0", ""));
  Deno.removeSync("/workspace/unwritten");
  for (const folder of ["/workspace", "/workspace/..", "/proc/self/root/workspace", "/proc/1/root"]) try { visit(folder); } catch {}`;

const WORKSPACE_ATTACKS: readonly Attack[] = [
  {
    name: "Disk space in a workspace",
    through: "program",
    run: async (environment) => {
      const { stdout, exitCode } = await run(environment, FILL_WORKSPACE);
      const heldMb = Number(stdout.trim().split("\n").at(-1));
      return judgeHeld(heldMb, WORKSPACE_MB, `exit code ${exitCode}`);
    },
  },
  {
    name: "Files in the workspace of another organization",
    through: "program",
    run: async (environment) => {
      // More programs than there are volumes, so that each volume is used again.
      const others = Array.from({ length: 14 }, () => ({ code: FIND_SECRET, owner: randomUUID() }));
      const own = { code: FIND_SECRET, owner: randomUUID() };
      const programs = [{ ...own, code: LEAVE_SECRET }, own, ...others];
      const [, byOwner, ...byOthers] = (await runAll(environment, programs)).map(({ stdout }) =>
        stdout.includes(SECRET),
      );
      const found = byOthers.filter(Boolean).length;
      const isContained = byOwner === true && found === 0;
      return { isContained, text: byOwner ? `found by ${found} of ${byOthers.length} programs` : "not stored" };
    },
  },
];

export const PROGRAM_ATTACKS: readonly Attack[] = [
  ...WORKSPACE_ATTACKS,
  ...Object.entries(MEMORY_PROGRAMS).map(([name, code]): Attack => ({
    name,
    through: "program",
    run: async (environment) => {
      const { stdout, exitCode } = await run(environment, code);
      const heldMb = Number(stdout.trim().split("\n").at(-1));
      return {
        isContained: heldMb <= MEMORY_MB && exitCode !== 0,
        text: `${heldMb} MiB with a limit of ${MEMORY_MB} MiB, exit code ${exitCode}`,
      };
    },
  })),
  ...hostilePrograms("http://127.0.0.1:1").map(({ description, code, isContained }): Attack => ({
    name: description.charAt(0).toUpperCase() + description.slice(1),
    through: "program",
    run: async (environment) => {
      const { stdout, stderr, exitCode, truncated, timedOut } = await run(environment, code);
      // The tool gateway shortens the output further.
      const kept = stdout.slice(0, MAX_OUTPUT_BYTES);
      const execution = { stdout: kept, stderr, exit_code: exitCode, truncated, timed_out: timedOut };
      return { isContained: isContained(execution), text: `exit code ${exitCode}${timedOut ? ", timed out" : ""}` };
    },
  })),
];

async function run(environment: AttackEnvironment, code: string): Promise<RunResult> {
  return (await runAll(environment, [{ code, owner: randomUUID() }]))[0] as RunResult;
}

/** Runs programs one after the other. Those of one owner have the same workspace. */
async function runAll(
  { groups, folder }: AttackEnvironment,
  programs: readonly { code: string; owner: string }[],
): Promise<RunResult[]> {
  await using sandbox = new BubblewrapSandbox({ ...SANDBOX_FILES, kind: "programs", groups, prepareFiles: true });
  const config = { databaseUrl: null, dataDirectory: folder };
  await using database = await openDatabase(config, createLogger("silent"));
  await using deno = await openDenoRuntime({ sandbox, databaseUrl: database.url });
  const results: RunResult[] = [];
  for (const { code, owner } of programs) {
    const id = { orgId: owner, agentId: owner };
    results.push(await runProgram(deno.runtime, code, { timeoutMs: TIMEOUT_MS, workspace: { id, readOnly: false } }));
  }
  return results;
}
