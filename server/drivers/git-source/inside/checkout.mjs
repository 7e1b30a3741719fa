// Runs inside the sandbox: fetches the tip of one branch, judges what it holds, and only then writes the files.
// Everything it is told comes as arguments that no shell reads. What became of it is written to $GIT_DIR/report.json.
//
// usage: GIT_DIR=<folder> GIT_WORK_TREE=<folder> node checkout.mjs <branch> <caps as JSON> <url> [other url]
import { isUtf8 } from "node:buffer";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";

const MAX_ERROR_LENGTH = 8192;

const [branch, capsText, ...urls] = process.argv.slice(2);
const caps = JSON.parse(capsText);
const repository = process.env.GIT_DIR;

report(await checkOut());

async function checkOut() {
  await git("init", "--quiet", "--template=");
  const failed = await fetchFromFirst(urls);
  if (downloadedTooMuch()) return { outcome: "refused", reason: "totalBytes" };
  if (failed !== null) return { outcome: "not-fetched", error: failed };
  const { refused, broken, files, bytes } = await judgeTree();
  if (broken) return { outcome: "not-written", error: broken };
  if (refused) return { outcome: "refused", reason: refused };
  const unwritten = await git("read-tree", "--reset", "-u", "refs/heads/tip");
  if (unwritten !== null) return { outcome: "not-written", error: unwritten };
  const commit = readFileSync(`${repository}/FETCH_HEAD`, "latin1").match(/^[0-9a-f]+/)[0];
  console.log(`Checked out commit ${commit}: ${files} files and folders, ${bytes} bytes`);
  return { outcome: "done", commit };
}

/** Hosts differ in whether the URL of a repository ends with `.git`, so the other one is tried after a failure. */
async function fetchFromFirst([url, ...others]) {
  const options = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"];
  const error = await git("fetch", ...options, "--", url, `+refs/heads/${branch}:refs/heads/tip`);
  if (others.length === 0 || foundRepository(error)) return error;
  const otherError = await fetchFromFirst(others);
  return foundRepository(otherError) ? otherError : error;
}

function foundRepository(error) {
  return error === null || error.includes("couldn't find remote ref") || downloadedTooMuch();
}

/** The writing of a pack ends, without a word, at the limit on files. */
function downloadedTooMuch() {
  const packs = `${repository}/objects/pack`;
  return readdirSync(packs).some((file) => statSync(`${packs}/${file}`).size >= caps.totalBytes);
}

/** Answers with `null`, or with the end of what git printed when it failed. */
function git(...gitArguments) {
  const child = spawn("git", gitArguments, { stdio: ["ignore", "inherit", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors = (errors + chunk).slice(-MAX_ERROR_LENGTH)));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0 ? null : errors));
  });
}

/** The listing streams, so that a small pack which stands for billions of files costs no more than the cap. */
function judgeTree() {
  const child = spawn("git", ["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", "refs/heads/tip"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const seen = { refused: null, broken: null, files: 0, bytes: 0 };
  let rest = "";
  child.stdout.setEncoding("latin1");
  child.stdout.on("data", (chunk) => {
    const entries = (rest + chunk).split("\0");
    rest = entries.pop();
    for (const entry of entries) seen.refused ??= judgeEntry(entry, seen);
    if (rest.length > caps.pathBytes + 128) seen.refused ??= "pathBytes";
    if (seen.refused) child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0 && !seen.refused) seen.broken = "The commit cannot be read.";
      resolve(seen);
    });
  });
}

/** @param entry - `<mode> <type> <object> <size>TAB<path>`, the path as one character per byte */
function judgeEntry(entry, seen) {
  const tab = entry.indexOf("\t");
  const path = entry.slice(tab + 1);
  const size = Number(entry.slice(0, tab).split(/ +/)[3]) || 0;
  seen.files += 1;
  seen.bytes += size;
  if (seen.files > caps.files) return "files";
  if (path.length > caps.pathBytes) return "pathBytes";
  if (!isUtf8(Buffer.from(path, "latin1"))) return "encoding";
  const names = path.split("/");
  if (names.length > caps.pathDepth) return "pathDepth";
  if (names.at(-1).length > caps.nameBytes) return "nameBytes";
  if (size > caps.fileBytes) return "fileBytes";
  return seen.bytes > caps.totalBytes ? "totalBytes" : null;
}

function report(found) {
  writeFileSync(`${repository}/report.json`, JSON.stringify(found));
}
