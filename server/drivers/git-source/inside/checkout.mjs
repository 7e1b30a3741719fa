// Runs inside the sandbox: fetches one commit, checks its contents against the limits, and only then writes
// the files. All input comes as arguments, without a shell. The outcome is written to $GIT_DIR/report.json.
//
// usage: GIT_DIR=<folder> GIT_WORK_TREE=<folder> node checkout.mjs <branch> <options as JSON> <url> [other url]
import { isUtf8 } from "node:buffer";
import { spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync, writeFileSync } from "node:fs";

const MAX_OUTPUT_LENGTH = 8192;
/** How many paths of each kind the report names. */
const MAX_REPORTED = 10;
/** The first line of a file that Git LFS stores elsewhere, and the largest size of such a file. */
const LFS_POINTER = "version https://git-lfs.github.com/spec/v1\n";
const MAX_POINTER_BYTES = 1024;

const [branch, options, ...urls] = process.argv.slice(2);
const { limits, commit, orDefaultBranch } = JSON.parse(options);
const repository = process.env.GIT_DIR;
/** The default branch, if it is fetched in place of the requested one. */
let usedBranch = null;

writeFileSync(`${repository}/report.json`, JSON.stringify(await checkOut()));

async function checkOut() {
  await git("init", "--quiet", "--template=");
  const fetchError = await fetchCommit();
  if (isDownloadTooLarge()) return { outcome: "refused", reason: "totalBytes" };
  if (fetchError !== null) return { outcome: "not-fetched", error: fetchError };
  const { violation, error, files, bytes, small, submodules } = await checkTree();
  if (error) return { outcome: "not-written", error };
  if (violation) return { outcome: "refused", reason: violation };
  const writeError = await git("read-tree", "--reset", "-u", "refs/heads/tip");
  if (writeError !== null) return { outcome: "not-written", error: writeError };
  const fetched = readFileSync(`${repository}/FETCH_HEAD`, "latin1").match(/^[0-9a-f]+/)[0];
  console.log(`Checked out commit ${fetched}: ${files} files and folders, ${bytes} bytes`);
  const omitted = { pointers: listNames(small.filter(isPointer)), submodules: listNames(submodules) };
  return { outcome: "done", commit: fetched, branch: usedBranch, ...omitted };
}

/** @param paths - with one character per byte */
function listNames(paths) {
  const names = paths.slice(0, MAX_REPORTED).map((path) => Buffer.from(path, "latin1").toString());
  return { names, count: paths.length };
}

function isPointer(path) {
  const bytes = Buffer.alloc(LFS_POINTER.length);
  const file = openSync(Buffer.from(`${process.env.GIT_WORK_TREE}/${path}`, "latin1"), "r");
  readSync(file, bytes);
  closeSync(file);
  return bytes.toString("latin1") === LFS_POINTER;
}

/** Fetches the commit, or else the branch. Returns `null`, or the error of the fetch. */
async function fetchCommit() {
  if (commit !== null) return (await fetchFromFirst(commit, urls)) ?? checkFetchedCommit();
  const error = await fetchFromFirst(`refs/heads/${branch}`, urls);
  if (!orDefaultBranch || error === null || !error.includes("couldn't find remote ref")) return error;
  const defaultBranch = await readDefaultBranch();
  if (defaultBranch === null) return error;
  console.log(`The repository has no branch "${branch}". Deploying its default branch, "${defaultBranch}".`);
  usedBranch = defaultBranch;
  return fetchFromFirst(`refs/heads/${defaultBranch}`, urls);
}

/** A branch or tag can have the requested id as its name, if ids of the repository have another length. */
function checkFetchedCommit() {
  const isRequested = readFileSync(`${repository}/FETCH_HEAD`, "latin1").startsWith(`${commit}\t`);
  return isRequested ? null : `couldn't find remote ref ${commit}`;
}

/** Returns the branch that HEAD of the remote repository names, or `null`. */
async function readDefaultBranch() {
  for (const url of urls) {
    const { output } = await runGit("ls-remote", "--symref", "--", url, "HEAD");
    const name = /^ref: refs\/heads\/([^\s~^:?*[\\]+)\tHEAD$/m.exec(output)?.[1];
    if (name !== undefined) return name;
  }
  return null;
}

/** Some hosts serve a repository at a URL that ends with `.git`, some without it, so both are tried. */
async function fetchFromFirst(ref, [url, ...others]) {
  const options = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"];
  const error = await git("fetch", ...options, "--", url, `+${ref}:refs/heads/tip`);
  if (others.length === 0 || foundRepository(error)) return error;
  const otherError = await fetchFromFirst(ref, others);
  return foundRepository(otherError) ? otherError : error;
}

function foundRepository(error) {
  const found = /couldn't find remote ref|not our ref|not valid|unadvertised object|non-commit object/;
  return error === null || found.test(error) || isDownloadTooLarge();
}

/** At the sandbox's limit on file size, git stops writing the pack without an error message. */
function isDownloadTooLarge() {
  const packs = `${repository}/objects/pack`;
  return readdirSync(packs).some((file) => statSync(`${packs}/${file}`).size >= limits.totalBytes);
}

/** Returns `null`, or the end of git's error output when git fails. */
async function git(...gitArguments) {
  const { code, errors } = await runGit(...gitArguments);
  return code === 0 ? null : errors;
}

/** Returns the exit code of git, the start of its output and the end of its error output. */
function runGit(...gitArguments) {
  const child = spawn("git", gitArguments, { stdio: ["ignore", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output = (output + chunk).slice(0, MAX_OUTPUT_LENGTH)));
  child.stderr.on("data", (chunk) => (errors = (errors + chunk).slice(-MAX_OUTPUT_LENGTH)));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output, errors }));
  });
}

/** Streams the listing, because a small pack can describe billions of files. Stops at the first violation. */
function checkTree() {
  const child = spawn("git", ["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", "refs/heads/tip"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const result = { violation: null, error: null, files: 0, bytes: 0, small: [], submodules: [] };
  let rest = "";
  child.stdout.setEncoding("latin1");
  child.stdout.on("data", (chunk) => {
    const entries = (rest + chunk).split("\0");
    rest = entries.pop();
    for (const entry of entries) result.violation ??= checkEntry(entry, result);
    if (rest.length > limits.pathBytes + 128) result.violation ??= "pathBytes";
    if (result.violation) child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0 && !result.violation) result.error = "The commit cannot be read.";
      resolve(result);
    });
  });
}

/** @param entry - `<mode> <type> <object> <size>TAB<path>`, with one character per byte of the path */
function checkEntry(entry, result) {
  const tab = entry.indexOf("\t");
  const path = entry.slice(tab + 1);
  const [mode, , , length] = entry.slice(0, tab).split(/ +/);
  const size = Number(length) || 0;
  if (mode === "160000") result.submodules.push(path);
  if (mode.startsWith("100") && size > LFS_POINTER.length && size <= MAX_POINTER_BYTES) result.small.push(path);
  result.files += 1;
  result.bytes += size;
  if (result.files > limits.files) return "files";
  if (path.length > limits.pathBytes) return "pathBytes";
  if (!isUtf8(Buffer.from(path, "latin1"))) return "encoding";
  const names = path.split("/");
  if (names.length > limits.pathDepth) return "pathDepth";
  if (names.at(-1).length > limits.nameBytes) return "nameBytes";
  if (size > limits.fileBytes) return "fileBytes";
  return result.bytes > limits.totalBytes ? "totalBytes" : null;
}
