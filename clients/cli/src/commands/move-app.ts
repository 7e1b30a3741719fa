import { openAsBlob } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { connect, type Context } from "../context.ts";
import { resolveAppId } from "../resolve-app.ts";

/** Adds the commands that take an app from one installation to another. */
export function defineMoveCommands(apps: Command, context: () => Context): void {
  apps
    .command("export")
    .summary("Export an app with its data")
    .description(
      "Writes the settings, the source and the data of an app to a file. The app continues to run. Its token and the values of secrets are never in the file.",
    )
    .argument("<app>", "the slug, the name or the id of the app")
    .argument("[file]", "the new file; by default the slug with .tar.gz")
    .option("--variables", "include the values of variables that are not secret")
    .action((app: string, file: string | undefined, options: { variables?: boolean }) =>
      exportApp(context(), { app, file, variables: options.variables === true }),
    );
  apps
    .command("import")
    .summary("Import an app with its data")
    .description("Creates an app from an export. Its first deployment restores the data before the first request.")
    .argument("<file>", "a file that svc apps export has written")
    .option("--name <name>", "the name of the new app; by default that of the exported one")
    .action((file: string, options: { name?: string }) => importApp(context(), file, options.name));
}

interface ExportOptions {
  app: string;
  file: string | undefined;
  variables: boolean;
}

async function exportApp(context: Context, { app, file, variables }: ExportOptions): Promise<void> {
  const { output, signal } = context;
  const client = await connect(context, `Reading ${app} …`);
  const id = await resolveAppId(client, app, signal);
  const { slug } = await client.apps.get({ id }, { signal });
  const target = file ?? `${slug}.tar.gz`;
  output.progress(`Exporting ${slug} …`);
  const content = await client.exportApp({ id, variables }, { signal });
  const bytes = await writeNewFile(target, content);
  output.value({ file: target, bytes }, () => target);
  output.message(
    variables
      ? "The file has the values of variables that are not secret. Keep it where only you can read it."
      : "The file has the data of the app, and no values of variables.",
  );
}

/** Writes a file that does not exist yet, readable by the user only. An interrupted download leaves none. */
async function writeNewFile(target: string, content: ReadableStream<Uint8Array>): Promise<number> {
  const part = `${target}.part`;
  await using existing = await open(target, "wx", 0o600).catch((error: unknown) => {
    throw explain(target, error);
  });
  await using file = await open(part, "w", 0o600);
  try {
    let bytes = 0;
    for await (const chunk of content) {
      await file.writeFile(chunk);
      bytes += chunk.length;
    }
    await file.sync();
    await rename(part, target);
    return bytes;
  } catch (error) {
    await existing.close();
    await Promise.all([target, part].map((name) => rm(name, { force: true })));
    throw error;
  }
}

async function importApp(context: Context, file: string, name: string | undefined): Promise<void> {
  const { output, signal } = context;
  const content = await openAsBlob(file).catch((error: unknown) => {
    throw explain(file, error);
  });
  const client = await connect(context, `Sending ${file} …`);
  const imported = await client.importApp({ file: content, ...(name !== undefined && { name }) }, { signal });
  output.value(imported, () => imported.url);
  for (const warning of imported.warnings) output.message(`Warning: ${warning}`);
  if (imported.missing_variables.length > 0)
    output.message(`The export has no values of these variables: ${imported.missing_variables.join(", ")}.`);
  output.message(`The deployment has started. Follow it with: svc apps logs -f ${imported.slug}`);
}

function explain(file: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EEXIST") return new CliError(`${file} exists already. Name another file.`);
  if (code === "ENOENT" || code === "ERR_INVALID_ARG_VALUE") return new CliError(`${file} does not exist.`);
  return error;
}
