import { z } from "zod";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";

const LARGEST_RESULT = 16 * 1024 * 1024;

/** Text that is stored and shown: no control characters, which a database and a log would not take either. */
const shown = (longest: number) =>
  z
    .string()
    .max(longest)
    .regex(/^\P{Cc}*$/u);

/**
 * Code of the app can write this in the place of ours. Whatever is kept of it has a bound of its own, since the bound
 * on the whole would let one field fill the database or be read with every request to the app.
 */
const resultSchema = z.union([
  z.object({ failure: z.object({ message: z.string(), advice: z.string() }) }),
  z.object({
    framework: z
      .string()
      .regex(/^[\w.-]{1,64}$/)
      .nullable(),
    assets: z
      .object({
        directory: z.string().max(1024),
        leftOut: z.array(z.string()),
        rules: z.object({
          html_handling: z
            .enum(["auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"])
            .optional(),
          not_found_handling: z.enum(["single-page-application", "404-page", "none"]).optional(),
          run_worker_first: z.union([z.boolean(), z.array(shown(1024)).max(100)]).optional(),
        }),
      })
      .nullable(),
    migrations: z.array(z.object({ name: shown(1024), statements: z.array(z.string()) })).max(1000),
  }),
]);

/** What the bundling says it made, as far as it may be believed. */
export type Result = z.infer<typeof resultSchema>;

/** @throws when the file is absent, too large or not in the form */
export async function readResult(file: string): Promise<Result> {
  return resultSchema.parse(JSON.parse((await readUntrusted(file, LARGEST_RESULT)) ?? ""));
}
