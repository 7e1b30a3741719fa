/**
 * Reads real OpenAPI documents as a deployment does, and prints how many of their operations become procedures, as the rows of
 * the table in docs/procedures.md. Fails when an operation is neither offered nor named.
 *
 * Usage: npx node scripts/count-openapi-operations.ts FOLDER, where FOLDER has one document in each .json or .yaml file
 */
import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { load } from "js-yaml";
import { isRecord, parseJson } from "../domain/shared/json.ts";
import { listRepositoryOperations } from "../server/drivers/procedure-discovery/openapi-procedures.ts";
import { validateProcedures } from "../server/drivers/procedure-discovery/validate-procedures.ts";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
const LEFT_OUT = /^Left out "(?:[^"\\]|\\.)*": (.*)\.$/;

interface Count {
  operations: number;
  offered: number;
  named: number;
  /** The number of operations by reason. */
  reasons: Map<string, number>;
  problem: string | null;
}

/** Counts the operations without the reader that is examined. References between paths are not followed. */
async function countOperations(file: string): Promise<number> {
  const text = await readFile(file, "utf8");
  const document = file.endsWith(".json") ? parseJson(text) : load(text);
  const paths = isRecord(document) && isRecord(document["paths"]) ? Object.values(document["paths"]) : [];
  return paths.flatMap((item) => (isRecord(item) ? METHODS.filter((method) => Object.hasOwn(item, method)) : []))
    .length;
}

async function countProcedures(file: string): Promise<Count> {
  const folder = await mkdtemp(path.join(tmpdir(), "count-operations-"));
  try {
    await copyFile(file, path.join(folder, `openapi${path.extname(file)}`));
    const source = (await listRepositoryOperations(folder)) ?? { candidates: [], problems: [] };
    const { procedures, leftOut = [], problem } = await validateProcedures(source);
    const reasons = Map.groupBy(leftOut, (line) => LEFT_OUT.exec(line)?.[1] ?? line);
    return {
      operations: await countOperations(file),
      offered: procedures.length,
      named: leftOut.length,
      reasons: new Map([...reasons].map(([reason, lines]) => [reason, lines.length])),
      problem,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function formatRow(name: string, { operations, offered, named, reasons, problem }: Count): string {
  const described = [...reasons].toSorted(([, a], [, b]) => b - a).map(([reason, count]) => `${reason} (${count})`);
  const remarks = described.length === 0 && problem !== null ? problem : described.join("; ");
  return `| ${name} | ${operations} | ${offered} | ${named} | ${remarks} |`;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder with the documents.");
for (const name of (await readdir(folder)).toSorted()) {
  if (!/\.(json|yaml)$/.test(name)) continue;
  const count = await countProcedures(path.join(folder, name));
  console.log(formatRow(name, count));
  const known = count.offered + count.named;
  // A document that is not OpenAPI 3 is a problem as a whole.
  const isExplained = known === count.operations || (known === 0 && count.problem !== null);
  if (!isExplained) process.exitCode = 1;
}
