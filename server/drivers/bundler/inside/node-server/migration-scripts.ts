import { globSync, readFileSync } from "node:fs";
import { isFile, type PackageJson } from "../package-json.ts";
import { readStartFile } from "./start-command.ts";

/** Scripts that bring a database up to date, in the order in which they are tried. */
const MIGRATION_SCRIPTS = [
  ...["migrate:deploy", "db:migrate:deploy", "db:deploy", "migrate:prod", "migrate:production", "migration:run:prod"],
  ...["migration:run", "migrations:run", "migrate:run", "migrate:up", "migrate:latest", "migrate", "db:migrate"],
  ...["database:migrate", "db:push"],
];
/** Words of scripts that create migrations, remove data, or are for development. */
const NOT_FOR_DEPLOYMENT =
  /\b(dev|generate|create|make|new|revert|down|rollback|reset|watch|diff|docker|docker-compose)\b/;

/** Code that reads its command from the first argument, without a default. */
const READS_ARGUMENT = /\[\s*\w+\s*\]\s*=\s*process\.argv\.slice\(2\)|=\s*process\.argv\[2\]\s*(?:;|$)/m;

/** Arguments with which such scripts apply migrations. */
const ARGUMENT = /^(?:up|latest|deploy|run)$/;

/** What brings a database up to date. */
export interface FoundMigration {
  migration?: string;
  /** A script that would do it but needs an argument that the project does not document. It does not run. */
  incompleteMigration?: string;
}

/** Finds the script of package.json that brings the database up to date, with the argument that the documentation of the project names. */
export function findMigrationScript({ scripts = {} }: PackageJson): FoundMigration {
  const name = MIGRATION_SCRIPTS.find((each) => {
    const text = scripts[each];
    return typeof text === "string" && !NOT_FOR_DEPLOYMENT.test(text);
  });
  if (name === undefined) return {};
  if (!needsArgument(String(scripts[name]))) return { migration: `npm run ${name}` };
  const argument = findDocumentedArgument(name);
  return argument === null ? { incompleteMigration: name } : { migration: `npm run ${name} -- ${argument}` };
}

function needsArgument(script: string): boolean {
  const [program = "", ...args] = script.trim().split(/\s+/);
  const file = readStartFile({ folder: ".", program, args });
  return args.length === 1 && file !== null && isFile(file) && READS_ARGUMENT.test(readFileSync(file, "utf8"));
}

/** The argument in a line such as `npm run migrate up` of the README. */
function findDocumentedArgument(name: string): string | null {
  const call = new RegExp(String.raw`\b(?:npm run|yarn(?: run)?|pnpm(?: run)?) ${name} (?:-- )?(\w+)`, "g");
  const texts = globSync("[Rr][Ee][Aa][Dd][Mm][Ee]*")
    .filter(isFile)
    .map((file) => readFileSync(file, "utf8"));
  const words = texts.flatMap((text) => [...text.matchAll(call)].map(([, word = ""]) => word));
  return words.find((word) => ARGUMENT.test(word)) ?? null;
}
