// Runs inside the sandbox: fetches one commit with git, checks its contents against the limits, and writes its files.
import { isUtf8 } from "node:buffer";
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const MAX_OUTPUT_LENGTH = 8192;
const MAX_SETTINGS_LENGTH = 256 * 1024;
/** How many submodules of a repository are listed. */
const MAX_SUBMODULES = 50;
/** The first line of a file that Git LFS stores elsewhere, and the largest size of such a file. */
const LFS_POINTER = "version https://git-lfs.github.com/spec/v1\n";
const MAX_POINTER_BYTES = 1024;

/** The folder that the files of all repositories are written to. */
const ROOT = process.env.GIT_WORK_TREE;
/** Each line describes a pointer of Git LFS, for `large-files.mjs`. */
export const POINTERS_FILE = `${process.env.GIT_DIR}/pointers.jsonl`;

/** Whether `path` is in `ROOT` and no part of it is a link. */
export function isWithoutLinks(path) {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return false;
  try {
    return realpathSync(join(ROOT, path)) === join(realpathSync(ROOT), path);
  } catch {
    return false;
  }
}

/** A repository of which one commit is fetched. */
export class Repository {
  #directory;
  #limits;
  #path;
  #signal;

  /**
   * @param directory - the folder for the objects of git
   * @param limits - of all repositories together
   * @param path - the folder of the files relative to `ROOT`; empty for `ROOT`
   * @param signal - ends git
   */
  constructor(directory, limits, path, signal) {
    this.#directory = directory;
    this.#limits = limits;
    this.#path = path;
    this.#signal = signal;
  }

  async create() {
    mkdirSync(this.#directory, { recursive: true });
    await this.#git("init", "--quiet", "--template=");
  }

  /** Removes the objects. The files that were written stay. */
  removeObjects() {
    rmSync(`${this.#directory}/objects`, { recursive: true, force: true });
  }

  /** Fetches the commit. Returns `null`, or the error of the fetch. */
  async fetchCommit(commit, urls) {
    const error = await this.fetchFromFirst(commit, urls);
    // A branch or tag can have the requested id as its name, if ids of the repository have another length.
    return error ?? (this.readFetchHead() === commit ? null : `couldn't find remote ref ${commit}`);
  }

  /** Some hosts serve a repository at a URL that ends with `.git`, some without it, so both are tried. */
  async fetchFromFirst(ref, [url, ...others]) {
    const options = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"];
    const error = await this.#git("fetch", ...options, "--", url, `+${ref}:refs/heads/tip`);
    if (others.length === 0 || this.#foundRepository(error)) return error;
    const otherError = await this.fetchFromFirst(ref, others);
    return this.#foundRepository(otherError) ? otherError : error;
  }

  /** The id of the commit that was fetched. */
  readFetchHead() {
    return readFileSync(`${this.#directory}/FETCH_HEAD`, "latin1").match(/^[0-9a-f]+/)[0];
  }

  #foundRepository(error) {
    const found = /couldn't find remote ref|not our ref|not valid|unadvertised object|non-commit object/;
    return error === null || found.test(error) || this.isDownloadTooLarge();
  }

  /** At the sandbox's limit on file size, git stops writing the pack without an error message. */
  isDownloadTooLarge() {
    const packs = `${this.#directory}/objects/pack`;
    return readdirSync(packs).some((file) => statSync(`${packs}/${file}`).size >= this.#limits.totalBytes);
  }

  /** Asks for the newest commit of a branch; `null` without it. */
  async readTip(branch, urls) {
    let firstError = null;
    for (const url of urls) {
      const { code, output, errors } = await this.#run(["ls-remote", "--", url, `refs/heads/${branch}`]);
      const line = output.split("\n").find((each) => each.endsWith(`\trefs/heads/${branch}`)) ?? "";
      const commit = /^([0-9a-f]{40}|[0-9a-f]{64})\t/.exec(line)?.[1];
      if (commit !== undefined) return { outcome: "tip", commit };
      firstError ??= code === 0 ? `couldn't find remote ref refs/heads/${branch}` : errors;
      if (code === 0) break;
    }
    return { outcome: "not-fetched", error: firstError };
  }

  /** Returns the branch that HEAD of the remote repository names, or `null`. */
  async readDefaultBranch(urls) {
    for (const url of urls) {
      const { output } = await this.#run(["ls-remote", "--symref", "--", url, "HEAD"]);
      const name = /^ref: refs\/heads\/([^\s~^:?*[\\]+)\tHEAD$/m.exec(output)?.[1];
      if (name !== undefined) return name;
    }
    return null;
  }

  /**
   * Checks the files of the commit, and writes them if there is no violation.
   *
   * @param used - the number and size of the files that other repositories have written
   */
  async writeFiles(used) {
    const listed = await this.#checkTree(used);
    if (listed.error || listed.violation) return listed;
    return { ...listed, error: await this.#git("read-tree", "--reset", "-u", "refs/heads/tip") };
  }

  /** Writes the pointers of Git LFS among the `paths` to `POINTERS_FILE`, and returns their paths. */
  recordPointers(paths, url) {
    const pointers = paths.map((path) => this.#readPointer(path)).filter((pointer) => pointer !== null);
    appendFileSync(POINTERS_FILE, pointers.map((pointer) => `${JSON.stringify({ url, ...pointer })}\n`).join(""));
    return pointers.map(({ path }) => path);
  }

  #readPointer(bytes) {
    const path = join(this.#path, Buffer.from(bytes, "latin1").toString());
    const text = readFileSync(join(ROOT, path), "latin1");
    if (!text.startsWith(LFS_POINTER) || !isWithoutLinks(path)) return null;
    const [, oid = null, size = 0] = /^\S+ \S+\noid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n?$/.exec(text) ?? [];
    return { path, oid, size: Number(size) };
  }

  /** Returns the first of the submodules at the `paths`, with the URLs that .gitmodules names. */
  async readSubmodules(entries) {
    if (entries.length === 0) return [];
    const names = String.raw`^submodule\..*\.(path|url)$`;
    const options = ["--blob", "refs/heads/tip:.gitmodules", "--no-includes", "-z", "--get-regexp", names];
    const { output } = await this.#run(["config", ...options], MAX_SETTINGS_LENGTH);
    const settings = new Map();
    for (const setting of output.split("\0")) {
      const [, name, key, value] = /^submodule\.(?!-)(.*)\.(path|url)\n(.*)$/s.exec(setting) ?? [];
      if (name !== undefined) settings.set(name, { ...settings.get(name), [key]: value });
    }
    const urls = new Map([...settings.values()].map(({ path, url }) => [path, url]));
    return entries.slice(0, MAX_SUBMODULES).map(({ path: bytes, commit }) => {
      const name = Buffer.from(bytes, "latin1").toString();
      return { path: join(this.#path, name), commit, url: urls.get(name)?.slice(0, MAX_OUTPUT_LENGTH) ?? null };
    });
  }

  /** Returns `null`, or the end of git's error output when git fails. */
  async #git(...gitArguments) {
    const { code, errors } = await this.#run(gitArguments);
    return code === 0 ? null : errors;
  }

  #start(gitArguments, errors) {
    return spawn("git", gitArguments, {
      stdio: ["ignore", "pipe", errors],
      env: { ...process.env, GIT_DIR: this.#directory, GIT_WORK_TREE: join(ROOT, this.#path) },
      cwd: join(ROOT, this.#path),
      signal: this.#signal,
      killSignal: "SIGKILL",
    });
  }

  /** Returns the exit code of git, the start of its output and the end of its error output. */
  #run(gitArguments, maxLength = MAX_OUTPUT_LENGTH) {
    const child = this.#start(gitArguments, "pipe");
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk) => (output = (output + chunk).slice(0, maxLength)));
    child.stderr.on("data", (chunk) => (errors = (errors + chunk).slice(-MAX_OUTPUT_LENGTH)));
    return new Promise((resolve, reject) => {
      // Children of git may live longer than git. They end with the sandbox.
      child.on("error", (error) =>
        error.name === "AbortError" ? resolve({ code: 1, output, errors }) : reject(error),
      );
      child.on("close", (code) => resolve({ code, output, errors }));
    });
  }

  /** Streams the listing, because a small pack can describe billions of files. Stops at the first violation. */
  #checkTree(used) {
    const child = this.#start(["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", "refs/heads/tip"], "inherit");
    const result = { violation: null, error: null, ...used, small: [], submodules: [] };
    let rest = "";
    child.stdout.setEncoding("latin1");
    child.stdout.on("data", (chunk) => {
      const entries = (rest + chunk).split("\0");
      rest = entries.pop();
      for (const entry of entries) result.violation ??= this.#checkEntry(entry, result);
      if (rest.length > this.#limits.pathBytes + 128) result.violation ??= "pathBytes";
      if (result.violation) child.kill("SIGKILL");
    });
    return new Promise((resolve, reject) => {
      child.on("error", (error) => error.name !== "AbortError" && reject(error));
      child.on("close", (code) => {
        if (code !== 0 && !result.violation) result.error = "The commit cannot be read.";
        resolve(result);
      });
    });
  }

  /** @param entry - `<mode> <type> <object> <size>TAB<path>`, with one character per byte of the path */
  #checkEntry(entry, result) {
    const limits = this.#limits;
    const tab = entry.indexOf("\t");
    const path = entry.slice(tab + 1);
    const [mode, , object, length] = entry.slice(0, tab).split(/ +/);
    const size = Number(length) || 0;
    if (mode === "160000") result.submodules.push({ path, commit: object });
    if (mode.startsWith("100") && size > LFS_POINTER.length && size <= MAX_POINTER_BYTES) result.small.push(path);
    result.files += 1;
    result.bytes += size;
    if (result.files > limits.files) return "files";
    const outer = Buffer.from(this.#path).length;
    if (outer + path.length > limits.pathBytes) return "pathBytes";
    if (!isUtf8(Buffer.from(path, "latin1"))) return "encoding";
    const names = path.split("/");
    if (this.#path.split("/").length + names.length - 1 > limits.pathDepth) return "pathDepth";
    if (names.at(-1).length > limits.nameBytes) return "nameBytes";
    if (size > limits.fileBytes) return "fileBytes";
    return result.bytes > limits.totalBytes ? "totalBytes" : null;
  }
}
