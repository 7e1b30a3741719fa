import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { CheckedOut, Checkout, GitSource, GitTips } from "../../../domain/ports/git-source.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { SandboxedGit } from "./sandboxed-git.ts";

const run = promisify(execFile);

const OWNER = "examples";

/** Folders that development creates and that are not part of an example. */
const GENERATED_FOLDERS = ["node_modules", "dist", ".wrangler"];

export interface ExamplesSourceOptions {
  /** The folder of the examples, with one folder for each. */
  examplesFolder: string;
  /** The folder for the repositories that are made of them. */
  dataFolder: string;
  sandbox: Sandbox;
  /** Serves all other repositories. */
  others: GitSource & GitTips;
}

/**
 * Serves `examples/<name>` from a local folder, without a network. The folder becomes the branch `main` of a real git
 * repository, which is created with the first checkout and again after the folder has changed.
 */
export class ExamplesSource implements GitSource, GitTips {
  readonly #folder: string;
  readonly #dataFolder: string;
  readonly #repositories: GitSource & GitTips;
  readonly #others: GitSource & GitTips;
  readonly #creating = new Map<string, Promise<void>>();

  constructor({ examplesFolder, dataFolder, sandbox, others }: ExamplesSourceOptions) {
    this.#folder = examplesFolder;
    this.#dataFolder = dataFolder;
    this.#repositories = new SandboxedGit({ baseUrl: pathToFileURL(dataFolder).href, sandbox });
    this.#others = others;
  }

  async checkOut(checkout: Checkout): Promise<CheckedOut> {
    const repo = await this.#find(checkout.repo);
    if (repo === null) return this.#others.checkOut(checkout);
    return this.#repositories.checkOut({ ...checkout, repo });
  }

  async readTip(branch: Omit<Checkout, "commit" | "orDefaultBranch">): Promise<string> {
    const repo = await this.#find(branch.repo);
    return repo === null ? this.#others.readTip(branch) : this.#repositories.readTip({ ...branch, repo });
  }

  /** Returns the repository of an example; `null` for any other one. */
  async #find(wanted: string): Promise<string | null> {
    const [owner, name = ""] = wanted.split("/");
    const folder = join(this.#folder, name);
    if (owner !== OWNER || !(await isFolder(folder))) return null;
    const repo = `${OWNER}/${name}-${await hashFolder(folder)}`;
    await this.#createOnce(folder, repo);
    return repo;
  }

  /** Creates the repository once for concurrent checkouts. */
  #createOnce(folder: string, repo: string): Promise<void> {
    const creating = this.#creating.get(repo) ?? createRepository(folder, join(this.#dataFolder, `${repo}.git`));
    this.#creating.set(repo, creating);
    return creating.finally(() => this.#creating.delete(repo));
  }
}

/** The hash is part of the repository's name, so a changed example gets a new repository. */
async function hashFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sources = files.map((file) => file.slice(folder.length + 1)).filter((file) => !isGenerated(file));
  const digest = createHash("sha256");
  for (const file of sources.toSorted()) {
    const content = await readFile(join(folder, file));
    digest.update(JSON.stringify(file)).update(createHash("sha256").update(content).digest());
  }
  return digest.digest("hex").slice(0, 16);
}

function isGenerated(file: string): boolean {
  return file.split("/").some((part) => GENERATED_FOLDERS.includes(part));
}

/** Renames the complete repository into place. If another process was first, its repository has the same content. */
async function createRepository(folder: string, repository: string): Promise<void> {
  if (existsSync(repository)) return;
  await mkdir(join(repository, ".."), { recursive: true });
  const temporary = await mkdtemp(`${repository}-`);
  try {
    const complete = join(temporary, "repository");
    await commitFolder(folder, complete);
    await rename(complete, repository).catch((error: unknown) => {
      if (!existsSync(repository)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Author and date are fixed, so that equal content has the same commit id everywhere. */
async function commitFolder(folder: string, repository: string): Promise<void> {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const identity = { ...gitIdentity("AUTHOR"), ...gitIdentity("COMMITTER") };
  const git = (...options: string[]) => run("git", options, { cwd: folder, env: { ...env, ...identity } });
  const locations = [`--git-dir=${repository}`, `--work-tree=${folder}`];
  // Readable by all users: the sandbox reads the repository as another user.
  await git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--shared=0644", repository);
  await git(
    ...locations,
    "add",
    "--all",
    "--",
    ".",
    ...GENERATED_FOLDERS.map((name) => `:(exclude,glob)**/${name}/**`),
  );
  await git(...locations, "commit", "--quiet", "--allow-empty", "--message", "The example as it is in this project");
}

function gitIdentity(role: "AUTHOR" | "COMMITTER"): Record<string, string> {
  return {
    [`GIT_${role}_NAME`]: "Examples",
    [`GIT_${role}_EMAIL`]: "examples@localhost",
    [`GIT_${role}_DATE`]: "2026-01-01T00:00:00Z",
  };
}

/** The folder of the examples also contains files, such as a README. */
function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
