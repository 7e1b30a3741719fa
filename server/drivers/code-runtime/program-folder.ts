import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** The files of one run on the host, which are removed with it. */
export interface ProgramFolder extends AsyncDisposable {
  path: string;
  /** The names of the files that the program finds. */
  files: readonly string[];
}

/** The folder's path is short, because that of a unix socket, which will be in it, has at most 107 bytes. */
export async function createProgramFolder(code: string, declarations: string | undefined): Promise<ProgramFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), "program-"));
  const files = { "main.ts": code, ...(declarations !== undefined && { "service.d.ts": declarations }) };
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text, { mode: 0o644 });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: folder, files: Object.keys(files), [Symbol.asyncDispose]: remove };
}
