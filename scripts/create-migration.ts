// Writes the difference between the entities and the migrations as a new migration: npm run migration -- <name>
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openOrm } from "../server/database/orm.ts";

const directory = await mkdtemp(path.join(tmpdir(), "migration-"));
const orm = await openOrm({ kind: "embedded", directory });
try {
  await orm.migrator.up();
  const { fileName } = await orm.migrator.create(undefined, false, false, process.argv[2]);
  console.log(fileName === "" ? "Nothing has changed." : `Wrote ${fileName}`);
} finally {
  await orm.close();
  await rm(directory, { recursive: true });
}
