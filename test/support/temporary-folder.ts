import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
}

/** Creates an empty folder. It is removed on disposal, with its contents. */
export async function temporaryFolder(parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, "test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
