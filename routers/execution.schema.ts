import { z } from "zod";
import type { Execution } from "../domain/execution/execute-code.ts";
import { isCodeTooLong, MAX_CODE_BYTES, RUN_TIME_MS } from "../domain/ports/code-runtime.ts";

const CODE_TOO_LONG = `exceeds ${MAX_CODE_BYTES / 1024} KiB; run it in parts`;

export const executeRequest = z.strictObject({
  code: z
    .string()
    .min(1)
    .max(MAX_CODE_BYTES, { error: CODE_TOO_LONG, abort: true })
    .refine((code) => !isCodeTooLong(code), CODE_TOO_LONG)
    .meta({ description: "A TypeScript module. Top-level await is allowed. Print results with console.log" }),
  timeout_ms: z
    .int()
    .min(RUN_TIME_MS.min)
    .max(RUN_TIME_MS.max)
    .default(30_000)
    .meta({ description: "Time limit in milliseconds" }),
  agent_id: z.uuid().optional().meta({ description: "The agent whose /workspace to use. Default: your own" }),
});

export const executeResponse = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  duration_ms: z.int(),
  truncated: z.boolean().meta({ description: "Whether part of the output is missing" }),
  timed_out: z.boolean(),
}) satisfies z.ZodType<Execution>;
