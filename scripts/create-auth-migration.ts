// Writes what better-auth's tables lack as a new migration: npm run migration:auth -- <name>
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openOrm } from "../server/database/orm.ts";
import { listMissingStatements } from "../server/identity/open-auth.ts";

const directory = await mkdtemp(path.join(tmpdir(), "migration-"));
const orm = await openOrm({ kind: "embedded", directory });
try {
  await orm.migrator.up();
  const statements = await listMissingStatements(orm);
  if (statements.length === 0) console.log("Nothing has changed.");
  else console.log(`Wrote ${await write(statements)}`);
} finally {
  await orm.close();
  await rm(directory, { recursive: true });
}

async function write(statements: string[]): Promise<string> {
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const name = `Migration${stamp}_${process.argv[2] ?? "auth"}`;
  const lines = statements.map((statement) => `    this.addSql(\`${statement};\`);`).join("\n");
  const file = path.join(import.meta.dirname, "../server/database/migrations", `${name}.ts`);
  const source = `import { Migration } from "@mikro-orm/migrations";

export class ${name} extends Migration {
  override name = "${name}";

  override up(): void | Promise<void> {
${lines}
  }
}
`;
  await writeFile(file, source);
  return path.basename(file);
}
