import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

export interface RepositoryFile {
  /** As in `owner/name`. */
  repository: string;
  commit: string;
  path: string;
}

const run = promisify(execFile);
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads a file of a public repository at a commit.
 *
 * @param folder - contains a bare repository `owner+name/repo` for each repository; a missing one is cloned into it
 */
export async function readRepositoryFile(
  { repository, commit, path: file }: RepositoryFile,
  folder: string,
): Promise<Buffer> {
  const directory = path.join(folder, repository.replace("/", "+"), "repo");
  const show = async (): Promise<Buffer> =>
    (await run("git", ["-C", directory, "show", `${commit}:${file}`], { encoding: "buffer", maxBuffer: MAX_BYTES }))
      .stdout;
  try {
    return await show();
  } catch {
    await run("git", ["clone", "--quiet", "--bare", `https://github.com/${repository}.git`, directory]);
    return await show();
  }
}
