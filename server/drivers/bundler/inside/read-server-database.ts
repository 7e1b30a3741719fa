// Writes which database the project uses to the file that the first argument names. The current folder is that of the package.
import { writeFileSync } from "node:fs";
import { readServerDatabase } from "./node-server/server-database.ts";
import { readPackageJson } from "./package-json.ts";

const packageJson = readPackageJson();
const { build } = packageJson.scripts ?? {};
const database = readServerDatabase(packageJson, typeof build === "string" ? build : "");
writeFileSync(String(process.argv[2]), JSON.stringify(database));
