import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Checkout, GitSource } from "../../../domain/ports/git-source.ts";
import type { Sandbox } from "../../../domain/ports/sandbox.ts";
import { GitHost } from "./sandboxed-git.ts";

const run = promisify(execFile);

const OWNER = "examples";

/** What working on an example leaves behind. */
const NOT_SOURCE = ["node_modules", "dist", ".wrangler"];

export interface ExamplesSourceOptions {
  /** The project's folder of examples, one folder each. */
  examplesFolder: string;
  /** Where their repositories are kept. */
  dataFolder: string;
  sandbox: Sandbox;
  /** Serves every other repository. */
  others: GitSource;
}

/**
 * Serves `examples/<name>` from a folder of the project, without any network: as the branch `main` of a real git
 * repository, made when first asked for and again when the folder has changed.
 */
export class ExamplesSource implements GitSource {
  readonly #folder: string;
  readonly #dataFolder: string;
  readonly #repositories: GitSource;
  readonly #others: GitSource;
  readonly #making = new Map<string, Promise<void>>();

  constructor({ examplesFolder, dataFolder, sandbox, others }: ExamplesSourceOptions) {
    this.#folder = examplesFolder;
    this.#dataFolder = dataFolder;
    this.#repositories = new GitHost({ baseUrl: pathToFileURL(dataFolder).href, sandbox });
    this.#others = others;
  }

  async checkOut(checkout: Checkout): Promise<{ commit: string }> {
    const [owner, name = ""] = checkout.repo.split("/");
    const folder = join(this.#folder, name);
    if (owner !== OWNER || !(await isFolder(folder))) return this.#others.checkOut(checkout);
    const repo = `${OWNER}/${name}-${await digestOf(folder)}`;
    await this.#make(folder, repo);
    return this.#repositories.checkOut({ ...checkout, repo });
  }

  /** Once, however many ask at a time. */
  #make(folder: string, repo: string): Promise<void> {
    const making = this.#making.get(repo) ?? makeRepository(folder, join(this.#dataFolder, `${repo}.git`));
    this.#making.set(repo, making);
    return making.finally(() => this.#making.delete(repo));
  }
}

/** Names the content of a folder, so that a changed example gets another repository. */
async function digestOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const source = files.map((file) => file.slice(folder.length + 1)).filter((file) => !isLeftover(file));
  const digest = createHash("sha256");
  for (const file of source.toSorted()) {
    digest.update(JSON.stringify(file));
    digest.update(
      createHash("sha256")
        .update(await readFile(join(folder, file)))
        .digest(),
    );
  }
  return digest.digest("hex").slice(0, 16);
}

function isLeftover(file: string): boolean {
  return file.split("/").some((part) => NOT_SOURCE.includes(part));
}

/** Appears under its name when it is complete. Another process that makes the same one at the same time makes it equal. */
async function makeRepository(folder: string, repository: string): Promise<void> {
  if (await exists(repository)) return;
  await mkdir(join(repository, ".."), { recursive: true });
  const unfinished = await mkdtemp(`${repository}-`);
  try {
    const made = join(unfinished, "repository");
    await commitFolder(folder, made);
    await rename(made, repository).catch(async (error: unknown) => {
      if (!(await exists(repository))) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Author and time are fixed, so that the same content is the same commit everywhere. */
async function commitFolder(folder: string, repository: string): Promise<void> {
  const person = (role: string) => ({
    [`GIT_${role}_NAME`]: "Examples",
    [`GIT_${role}_EMAIL`]: "examples@localhost",
    [`GIT_${role}_DATE`]: "2026-01-01T00:00:00Z",
  });
  const noConfiguration = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", ...noConfiguration, ...person("AUTHOR"), ...person("COMMITTER") };
  const places = [`--git-dir=${repository}`, `--work-tree=${folder}`];
  const git = (...options: string[]) => run("git", options, { cwd: folder, env });
  // The sandbox reads it as another user than the one that made it.
  await git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--shared=0644", repository);
  await git(...places, "add", "--all", "--", ".", ...NOT_SOURCE.map((name) => `:(exclude,glob)**/${name}/**`));
  await git(...places, "commit", "--quiet", "--allow-empty", "--message", "The example as it is in this project");
}

/** Beside the examples there may be files that tell of them. */
function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
