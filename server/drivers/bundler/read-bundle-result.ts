import { z } from "zod";
import { DATABASE_PARTS } from "../../../domain/shared/postgres-variables.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { toSingleLine } from "./single-line.ts";

const MAX_VARIABLES = 100;
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

/** Text that is stored and displayed. Databases and logs do not accept control characters. */
const displayText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^\P{Cc}*$/u);

const failureSchema = z.object({ failure: z.object({ message: z.string(), advice: z.string() }) });

const frameworkSchema = z.string().regex(/^[\w.-]{1,64}$/);

const databaseSchema = z.object({
  postgres: z
    .object({ variables: z.record(z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/), z.enum(DATABASE_PARTS)) })
    .refine(({ variables }) => Object.keys(variables).length <= MAX_VARIABLES)
    .exactOptional(),
  migration: displayText(4096).exactOptional(),
  incompleteMigration: displayText(100).exactOptional(),
});

const serverSchema = z.object({
  server: z.object({
    command: displayText(4096),
    framework: frameworkSchema.nullable(),
    database: databaseSchema,
    standalone: z.object({ files: displayText(1024), directory: displayText(1024) }).nullable(),
    unusedPackages: z.array(displayText(1024)).max(100_000),
  }),
});

const contentsSchema = z.object({
  framework: frameworkSchema.nullable(),
  assets: z
    .object({
      directory: z.string().max(1024),
      ignored: z.array(z.string()),
      rules: z.object({
        html_handling: z
          .enum(["auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"])
          .optional(),
        not_found_handling: z.enum(["single-page-application", "404-page", "none"]).optional(),
        run_worker_first: z.union([z.boolean(), z.array(displayText(1024)).max(100)]).optional(),
      }),
    })
    .nullable(),
  migrations: z.array(z.object({ name: displayText(1024), statements: z.array(z.string()) })).max(1000),
  warnings: z.array(z.string().transform(toSingleLine)).max(20),
});

/**
 * The contents of a bundle besides its script. `assets.directory` is relative to the folder of the package, and the
 * paths in `assets.ignored` are relative to that directory.
 */
export type BundleContents = z.infer<typeof contentsSchema>;

/** What the bundle step reports: the contents of the bundle, how a Node server starts, or why the app cannot be bundled. */
export type BundleResult = BundleContents | z.infer<typeof serverSchema> | z.infer<typeof failureSchema>;

/**
 * Reads the result of the bundle step. Code of the app may have written the file instead of the bundler. Every value
 * that is stored has a bound of its own: otherwise one value could fill the database, or slow down every request to
 * the app.
 *
 * @throws when the file is absent, too large or invalid
 */
export async function readBundleResult(file: string): Promise<BundleResult> {
  const text = (await readUntrusted(file, MAX_RESULT_BYTES)) ?? "";
  return z.union([failureSchema, serverSchema, contentsSchema]).parse(JSON.parse(text));
}

/**
 * Reads which database a project uses, as a step of its build has written it.
 *
 * @throws when it is invalid
 */
export function parseServerDatabase(text: string): z.infer<typeof databaseSchema> {
  return databaseSchema.parse(JSON.parse(text));
}
