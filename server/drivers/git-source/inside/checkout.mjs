// Runs inside the sandbox: fetches one commit, checks its contents against the limits, and only then writes
// the files. All input comes as arguments, without a shell. The outcome is written to $GIT_DIR/report.json.
//
// usage: GIT_DIR=<folder> GIT_WORK_TREE=<folder> node checkout.mjs <branch> <options as JSON> <url> [other url]
import { writeFileSync } from "node:fs";
import { Repository } from "./repository.mjs";

/** How many pointers the report names. */
const MAX_REPORTED = 10;

const [branch, options, ...urls] = process.argv.slice(2);
const { limits, commit, orDefaultBranch } = JSON.parse(options);
const repository = new Repository(process.env.GIT_DIR, limits, "");
/** The default branch, if it is fetched in place of the requested one. */
let usedBranch = null;

writeFileSync(`${process.env.GIT_DIR}/report.json`, JSON.stringify(await checkOut()));

async function checkOut() {
  await repository.create();
  const fetchError = await (commit === null ? fetchBranch() : repository.fetchCommit(commit, urls));
  if (repository.isDownloadTooLarge()) return { outcome: "refused", reason: "totalBytes" };
  if (fetchError !== null) return { outcome: "not-fetched", error: fetchError };
  const { violation, error, files, bytes, small, ...listed } = await repository.writeFiles({ files: 0, bytes: 0 });
  if (error) return { outcome: "not-written", error };
  if (violation) return { outcome: "refused", reason: violation };
  const fetched = repository.readFetchHead();
  console.log(`Checked out commit ${fetched}: ${files} files and folders, ${bytes} bytes`);
  const pointers = repository.recordPointers(small, urls.at(-1));
  const submodules = await repository.readSubmodules(listed.submodules);
  // Makes room for the files of submodules and of Git LFS.
  if (pointers.length > 0 || submodules.length > 0) repository.removeObjects();
  return {
    outcome: "done",
    commit: fetched,
    branch: usedBranch,
    used: { files, bytes },
    pointers: { names: pointers.slice(0, MAX_REPORTED), count: pointers.length },
    submodules,
    unlisted: listed.submodules.length - submodules.length,
  };
}

async function fetchBranch() {
  const error = await repository.fetchFromFirst(`refs/heads/${branch}`, urls);
  if (!orDefaultBranch || error === null || !error.includes("couldn't find remote ref")) return error;
  const defaultBranch = await repository.readDefaultBranch(urls);
  if (defaultBranch === null) return error;
  console.log(`The repository has no branch "${branch}". Deploying its default branch, "${defaultBranch}".`);
  usedBranch = defaultBranch;
  return repository.fetchFromFirst(`refs/heads/${defaultBranch}`, urls);
}
