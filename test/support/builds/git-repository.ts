import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { deflateSync } from "node:zlib";

/** One entry of a tree, in git's terms. */
export interface TreeEntry {
  mode: "100644" | "100755" | "120000" | "40000" | "160000";
  /** Any bytes except NUL and `/`, including names that no working copy can have. */
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
 * A bare repository that is written object by object, so that it can contain trees that `git add` refuses.
 * Readable by all users, because the sandbox reads it as another user.
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
    return this.#write("blob", Buffer.from(content));
  }

  /** Writes a tree without checks: git checks neither the names nor their order. */
  tree(entries: readonly TreeEntry[]): Promise<string> {
    const parts = entries.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(id, "hex"),
    ]);
    return this.#write("tree", Buffer.concat(parts));
  }

  /** Writes an object as git stores it. A git process for each object would take longer than the rest of a test. */
  #write(type: "blob" | "tree", content: Buffer): Promise<string> {
    const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = createHash("sha1").update(object).digest("hex");
    const folder = join(this.path, "objects", id.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, id.slice(2)), deflateSync(object));
    return Promise.resolve(id);
  }

  /** Commits `tree` to `branch`. */
  async commit(tree: string, branch = "main"): Promise<string> {
    const commit = await this.git(["commit-tree", "-m", "A commit", tree]);
    await this.git(["update-ref", `refs/heads/${branch}`, commit]);
    return commit;
  }

  /** Commits `files`, which map paths to contents, and further entries of the root to `branch`. */
  async commitFiles(
    files: Readonly<Record<string, string>>,
    branch = "main",
    further: readonly TreeEntry[] = [],
  ): Promise<string> {
    return this.commit(await this.writeTree(Object.entries(files), further), branch);
  }

  async writeTree(
    files: readonly (readonly [path: string, content: string])[],
    further: readonly TreeEntry[] = [],
  ): Promise<string> {
    const folders = Map.groupBy(files, ([path]) => path.split("/")[0] ?? "");
    const entries = await Promise.all(
      [...folders].map(async ([name, inside]): Promise<TreeEntry> => {
        const nested = inside
          .filter(([path]) => path !== name)
          .map(([path, content]) => [path.slice(name.length + 1), content] as const);
        if (nested.length > 0) return { mode: "40000", name, id: await this.writeTree(nested) };
        return { mode: "100644", name, id: await this.blob(inside[0]?.[1] ?? "") };
      }),
    );
    return this.tree(sortLikeGit([...entries, ...further]));
  }

  async git(options: readonly string[], input: string | Uint8Array = ""): Promise<string> {
    const child = spawn("git", options, { cwd: this.path, env: ENV, stdio: ["pipe", "pipe", "pipe"] });
    // A command that reads no input may exit before the input is written.
    child.stdin.on("error", () => undefined).end(input);
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (child.exitCode !== 0) throw new Error(`git ${options[0]} failed: ${errors}`);
    return output.trim();
  }
}

/** The content of .gitmodules. */
export function gitmodules(modules: readonly { path: string; url: string }[]): string {
  return modules.map(({ path, url }, n) => `[submodule "m${n}"]\n\tpath = ${path}\n\turl = ${url}\n`).join("");
}

/** git sorts a folder as if its name ended with `/`. */
function sortLikeGit(entries: readonly TreeEntry[]): TreeEntry[] {
  const key = ({ mode, name }: TreeEntry) =>
    Buffer.concat([Buffer.from(name), Buffer.from(mode === "40000" ? "/" : "")]);
  return entries.toSorted((a, b) => Buffer.compare(key(a), key(b)));
}
