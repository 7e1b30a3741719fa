/**
 * Writes a migration with what the entities, or with --auth the identity provider, need beyond the existing migrations.
 *
 * Usage: npm run migration -- [--auth] NAME
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { openMigrator } from "../server/database/migrate.ts";
import type { Orm } from "../server/database/orm.ts";
import { listMissingStatements } from "../server/identity/open-auth.ts";
import { openScratchOrm } from "./scratch-orm.ts";

const { values, positionals } = parseArgs({ options: { auth: { type: "boolean" } }, allowPositionals: true });
const [name] = positionals;

await using scratch = await openScratchOrm();
const file = values.auth ? await writeAuthMigration(scratch.orm) : await writeEntityMigration(scratch.orm);
console.log(file === "" ? "Nothing has changed." : `Wrote ${file}`);

async function writeEntityMigration(orm: Orm): Promise<string> {
  const { fileName } = await (await openMigrator(orm)).create(undefined, false, false, name);
  return fileName;
}

/** MikroORM has no entities for the tables of better-auth, which lists its missing tables and columns itself. */
async function writeAuthMigration(orm: Orm): Promise<string> {
  const statements = await listMissingStatements(orm);
  if (statements.length === 0) return "";
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const className = `Migration${stamp}_${name ?? "auth"}`;
  const lines = statements.map((statement) => `    this.addSql(\`${statement};\`);`).join("\n");
  const fileName = `${className}.ts`;
  const source = `import { Migration } from "@mikro-orm/migrations";

export class ${className} extends Migration {
  override name = "${className}";

  override up(): void | Promise<void> {
${lines}
  }
}
`;
  await writeFile(path.join(import.meta.dirname, "../server/database/migrations", fileName), source);
  return fileName;
}
