// Writes a migration with the difference between the entities and the existing migrations: npm run migration -- <name>
import { openMigrator } from "../server/database/migrate.ts";
import { openScratchOrm } from "./scratch-orm.ts";

await using scratch = await openScratchOrm();
const { fileName } = await (await openMigrator(scratch.orm)).create(undefined, false, false, process.argv[2]);
console.log(fileName === "" ? "Nothing has changed." : `Wrote ${fileName}`);
