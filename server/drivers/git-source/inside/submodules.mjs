// Runs inside the sandbox: fetches submodules of one level, and writes those that are within the limits. All input comes as
// an argument, without a shell. The outcome is written to $GIT_DIR/report.json.
//
// usage: GIT_DIR=<folder> GIT_WORK_TREE=<folder> node submodules.mjs <options as JSON>
import { lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { isWithoutLinks, Repository } from "./repository.mjs";

const { limits, used, modules, timeMs } = JSON.parse(process.argv[2]);
const deadline = AbortSignal.timeout(timeMs);
const pointers = [];

const results = [];
for (const [index, module] of modules.entries()) results.push(await checkOut(module, index));
const report = { used, modules: results, pointers: { names: pointers.slice(0, 10), count: pointers.length } };
writeFileSync(`${process.env.GIT_DIR}/report.json`, JSON.stringify(report));

async function checkOut({ path, commit, urls }, index) {
  const failed = (reason) => ({ reason: deadline.aborted ? "time" : reason, submodules: [], unlisted: 0 });
  if (deadline.aborted || !isEmptyFolder(path)) return failed("path");
  const directory = `${process.env.GIT_DIR}/modules/${index}`;
  const repository = new Repository(directory, limits, path, deadline);
  await repository.create();
  try {
    const fetchError = await repository.fetchCommit(commit, urls);
    if (repository.isDownloadTooLarge()) return failed("limits");
    if (fetchError !== null) return failed("fetch");
    const { violation, error, files, bytes, small, submodules } = await repository.writeFiles(used);
    if (violation) return failed("limits");
    Object.assign(used, { files, bytes });
    if (error) return failed("files");
    console.log(`Checked out the submodule ${JSON.stringify(path)} at commit ${commit}`);
    pointers.push(...repository.recordPointers(small, urls.at(-1)));
    const nested = await repository.readSubmodules(submodules);
    return { reason: null, submodules: nested, unlisted: submodules.length - nested.length };
  } finally {
    // After the deadline, a child of git may still write to it.
    if (!deadline.aborted) rmSync(directory, { recursive: true });
  }
}

/** A tree can contain the name of a submodule twice: as a folder with files, or as a link. */
function isEmptyFolder(path) {
  const folder = `${process.env.GIT_WORK_TREE}/${path}`;
  return isWithoutLinks(path) && lstatSync(folder).isDirectory() && readdirSync(folder).length === 0;
}
