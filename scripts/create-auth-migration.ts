// Writes a migration that adds the missing tables and columns of better-auth: npm run migration:auth -- <name>
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { listMissingStatements } from "../server/identity/open-auth.ts";
import { openScratchOrm } from "./scratch-orm.ts";

await using scratch = await openScratchOrm();
const statements = await listMissingStatements(scratch.orm);
if (statements.length === 0) console.log("Nothing has changed.");
else console.log(`Wrote ${await writeMigration(statements)}`);

async function writeMigration(statements: string[]): Promise<string> {
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
