import { hostilePrograms } from "../../bench/execute/hostile-programs.ts";
import { MAX_OUTPUT_BYTES, type RunResult } from "../../domain/ports/code-runtime.ts";
import { SANDBOX_FILES } from "../../server/drivers/code-runtime/deno-command.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { openDenoRuntime } from "../support/procedures/deno-runtime.ts";
import { runProgram } from "../support/procedures/run-program.ts";
import type { Attack, AttackEnvironment } from "./attack.ts";

const TIMEOUT_MS = 4000;

/** Each program prints how much it holds. */
const MEMORY_PROGRAMS: Readonly<Record<string, string>> = {
  "Memory outside the JavaScript heap": `const held = [];
    for (let n = 1; n <= 512; n++) { held.push(new WebAssembly.Memory({ initial: 256 })); new Uint8Array(held.at(-1).buffer).fill(1); console.log(n * 16); }`,
  "Memory in shared buffers": `const held = [];
    for (let n = 1; n <= 512; n++) { held.push(new SharedArrayBuffer(16 * 1024 * 1024)); new Uint8Array(held.at(-1)).fill(1); console.log(n * 16); }`,
};
const MEMORY_MB = 512;

export const PROGRAM_ATTACKS: readonly Attack[] = [
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

async function run({ groups }: AttackEnvironment, code: string): Promise<RunResult> {
  await using sandbox = new BubblewrapSandbox({ ...SANDBOX_FILES, kind: "programs", groups, prepareFiles: true });
  await using deno = await openDenoRuntime({ sandbox });
  return await runProgram(deno.runtime, code, { timeoutMs: TIMEOUT_MS });
}
