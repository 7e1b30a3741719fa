import path from "node:path";
import type { PostgresUse } from "../../../domain/ports/bundler.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { namesOwnDatabase, POSTGRES_PORT, postgresVariables } from "../../../domain/shared/postgres-variables.ts";
import type { PostgresDatabase } from "../../ports/postgres.ts";
import { installedProgramFolders } from "../../sandbox/installed-programs.ts";
import { writePostgresCertificate } from "../../sandbox/postgres-tls.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { type BuildContext, type BuildStep, runBuildStep, say } from "./build-step.ts";
import type { Project } from "./read-project.ts";
import { parseServerDatabase } from "./read-bundle-result.ts";
import { SANDBOX_PATHS, toolchainEnvironment } from "./toolchain.ts";

/** An empty database for a build script, with the tables of the project. Disposing of it removes it. */
interface BuildDatabase extends AsyncDisposable {
  /** What a step needs to use it. */
  step: Required<Pick<BuildStep, "env" | "loopbackPorts" | "mounts">>;
}

const FILE = "database.json";
const MAX_BYTES = 64 * 1024;

/**
 * Opens a database for a build script, if the project uses PostgreSQL and its owner has named no other one for builds. Frameworks
 * load the code of a server while they build it, and prerender its pages. The database of the app is not touched.
 */
export async function openBuildDatabase(context: BuildContext, project: Project): Promise<BuildDatabase | null> {
  const { databases, sandbox, request } = context;
  if (databases === null || !sandbox.hasOwnNetwork || !project.usesDatabase) return null;
  const { postgres, migration } = await readDatabase(context, project);
  if (postgres === undefined || namesOwnDatabase(postgres.variables, request.variables ?? {})) return null;
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await databases.openTemporary());
  const step = await connectionTo(database, postgres, request);
  say(context, "The build uses an empty PostgreSQL database, which is removed afterwards.");
  if (migration !== undefined) await migrate(context, project, { migration, ...step });
  const opened = opening.move();
  return { step, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function connectionTo(
  database: PostgresDatabase,
  { variables }: PostgresUse,
  { outputDirectory }: BuildContext["request"],
): Promise<BuildDatabase["step"]> {
  const { databaseCertificate: certificateFile } = SANDBOX_PATHS;
  return {
    env: postgresVariables(variables, { ...database, port: POSTGRES_PORT, certificateFile }),
    loopbackPorts: [{ port: POSTGRES_PORT, target: database.address, protocol: "postgresql" }],
    mounts: [{ from: await writePostgresCertificate(outputDirectory), to: certificateFile, writable: false }],
  };
}

async function readDatabase(context: BuildContext, { location }: Project) {
  const { code } = await runBuildStep(context, {
    name: "bundle",
    directory: location.packageDirectory,
    argv: [
      SANDBOX_PATHS.node,
      `${SANDBOX_PATHS.scripts}/read-server-database.ts`,
      path.posix.join(SANDBOX_PATHS.scratch, FILE),
    ],
  });
  const text = code === 0 ? await readUntrusted(path.join(context.scratchDirectory, FILE), MAX_BYTES) : null;
  return parseServerDatabase(text ?? "{}");
}

/** The build may need no tables, so a migration that fails does not end it. */
async function migrate(
  context: BuildContext,
  { location }: Project,
  { migration, env, ...step }: { migration: string } & BuildDatabase["step"],
): Promise<void> {
  const ownPath = context.env["PATH"] ?? toolchainEnvironment(context.toolchain)["PATH"];
  const programs = installedProgramFolders(SANDBOX_PATHS.source, location.packageDirectory);
  const { code } = await runBuildStep(context, {
    name: "bundle",
    directory: location.packageDirectory,
    argv: ["sh", "-c", migration],
    env: { ...env, PATH: [...programs, ownPath].join(":") },
    ...step,
  }).catch((error: unknown) => {
    if (error instanceof BuildFailure && error.kind === "user") return { code: error.message };
    throw error;
  });
  if (code !== 0) say(context, `warning: \`${migration}\` failed on the empty database of the build.`);
}
