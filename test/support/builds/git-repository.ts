import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** One entry of a tree, in git's terms. */
export interface TreeEntry {
  mode: "100644" | "100755" | "120000" | "40000" | "160000";
  /** Any bytes but NUL and `/`: also what no working copy could hold. */
  name: string | Buffer;
  /** The object's id. */
  id: string;
}

const ENV = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};

/**
 * A real bare repository that is written object by object, so that it can hold what `git add` refuses to make.
 * Readable by everybody, as the sandbox needs it.
 */
export class Repository {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(base: string, repo: string): Promise<Repository> {
    const path = join(base, `${repo}.git`);
    await mkdir(path, { recursive: true });
    const repository = new Repository(path);
    await repository.git(["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--shared=0644", path]);
    return repository;
  }

  blob(content: string | Uint8Array): Promise<string> {
    return this.git(["hash-object", "-w", "--stdin"], content);
  }

  /** Written literally: git checks neither the names nor their order. */
  tree(entries: readonly TreeEntry[]): Promise<string> {
    const parts = entries.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(id, "hex"),
    ]);
    return this.git(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], Buffer.concat(parts));
  }

  /** Makes `tree` the content of `branch`. */
  async commit(tree: string, branch = "main"): Promise<string> {
    const commit = await this.git(["commit-tree", "-m", "A commit", tree]);
    await this.git(["update-ref", `refs/heads/${branch}`, commit]);
    return commit;
  }

  /** Makes `files`, by their paths, the content of `branch`. */
  async commitFiles(files: Readonly<Record<string, string>>, branch = "main"): Promise<string> {
    return this.commit(await this.treeOf(Object.entries(files)), branch);
  }

  async treeOf(files: readonly (readonly [path: string, content: string])[]): Promise<string> {
    const folders = Map.groupBy(files, ([path]) => path.split("/")[0] ?? "");
    const entries = await Promise.all(
      [...folders].map(async ([name, inside]): Promise<TreeEntry> => {
        const nested = inside
          .filter(([path]) => path !== name)
          .map(([path, content]) => [path.slice(name.length + 1), content] as const);
        if (nested.length > 0) return { mode: "40000", name, id: await this.treeOf(nested) };
        return { mode: "100644", name, id: await this.blob(inside[0]?.[1] ?? "") };
      }),
    );
    return this.tree(sortedAsGitDoes(entries));
  }

  async git(options: readonly string[], input: string | Uint8Array = ""): Promise<string> {
    const child = spawn("git", options, { cwd: this.path, env: ENV, stdio: ["pipe", "pipe", "pipe"] });
    // A command that reads nothing may be gone before it is written to.
    child.stdin.on("error", () => undefined).end(input);
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (child.exitCode !== 0) throw new Error(`git ${options[0]}: ${errors}`);
    return output.trim();
  }
}

/** A folder sorts as if its name ended with `/`. */
function sortedAsGitDoes(entries: readonly TreeEntry[]): TreeEntry[] {
  const key = ({ mode, name }: TreeEntry) =>
    Buffer.concat([Buffer.from(name), Buffer.from(mode === "40000" ? "/" : "")]);
  return entries.toSorted((a, b) => Buffer.compare(key(a), key(b)));
}
