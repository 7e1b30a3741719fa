// Runs inside the sandbox: asks the git host for the newest commit of a branch. All input comes as arguments, without a
// shell. The outcome is written to $GIT_DIR/report.json.
//
// usage: GIT_DIR=<folder> GIT_WORK_TREE=<folder> node tip.mjs <branch> <url> [other url]
import { writeFileSync } from "node:fs";
import { Repository } from "./repository.mjs";

const [branch, ...urls] = process.argv.slice(2);
const repository = new Repository(process.env.GIT_DIR, {}, "");

await repository.create();
writeFileSync(`${process.env.GIT_DIR}/report.json`, JSON.stringify(await repository.readTip(branch, urls)));
