import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { NodeServer } from "../../../domain/ports/bundler.ts";
import type { Script } from "../../../domain/ports/edge-platform.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { packTree } from "../../../server/sandbox/tree-archive/tree-archive.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import type { TestPlatform } from "./test-platform.ts";

const LIMITS = {
  wallTimeMs: 60_000,
  memoryMb: 512,
  processes: 16,
  fileSizeMb: 256,
  diskMb: 1024,
  outputBytes: 10_000,
} as const;

const PACKAGES = path.resolve(import.meta.dirname, "../../../node_modules");

export interface PackedServer extends AsyncDisposable {
  server: NodeServer;
}

interface PackOptions {
  command?: string | undefined;
  /** Packages of this project that are installed, without their dependencies. */
  packages?: readonly string[];
}

/** Packs files as a build does. Disposing of them removes the archives. */
export async function packServer(
  files: Readonly<Record<string, string>>,
  { command = "node server.js", packages = [] }: PackOptions = {},
): Promise<PackedServer> {
  await using packing = new AsyncDisposableStack();
  const workspace = packing.use(await temporaryFolder());
  const [folder, output] = [path.join(workspace.path, "source"), path.join(workspace.path, "output")];
  for (const each of [folder, output]) await mkdir(each);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  for (const name of packages)
    await cp(path.join(PACKAGES, name), path.join(folder, "node_modules", name), { recursive: true });
  await chmod(workspace.path, 0o755);
  const request = { sandbox: new BubblewrapSandbox(), limits: LIMITS, signal: new AbortController().signal };
  const layers = await packTree(request, { folder, mountedAt: "/build", output, runtime: null });
  const resources = packing.move();
  return {
    server: { command, directory: ".", layers: layers.map(({ digest, path: file }) => ({ digest, path: file })) },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

export interface ServerOptions extends Partial<Omit<Script, "code">>, Pick<NodeServer, "postgres" | "migration"> {
  command?: string;
}

/** Publishes the Node server `server.js`. By default the slug determines its app id and database id. */
export async function publishServer(
  { platform }: TestPlatform,
  slug: string,
  files: Readonly<Record<string, string>> | string,
  { command, postgres, migration, ...choices }: ServerOptions = {},
): ReturnType<TestPlatform["platform"]["scripts"]["publish"]> {
  await using packed = await packServer(typeof files === "string" ? { "server.js": files } : files, { command });
  const database = { ...(postgres && { postgres }), ...(migration !== undefined && { migration }) };
  const code = { runtime: "node", server: { ...packed.server, ...database } } as const;
  const script = { appId: `app-${slug}`, databaseId: `db-${slug}`, generation: 1, assets: null, ...choices, code };
  return await platform.scripts.publish(slug, script, AbortSignal.timeout(60_000));
}
