import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "../../clients/cli/src/generated/commands.ts";
import { createProgram } from "../../clients/cli/src/program.ts";
import { appRouter } from "../../routers/index.ts";
import { TOOLS } from "../../routers/tool-registry.ts";
import { OPERATIONS } from "../../server/rest/operations.ts";
import { HAZARDS } from "../hazards.ts";
import { FURTHER_REQUIREMENTS } from "../requirements/further.ts";
import { GATEWAY_REQUIREMENTS } from "../requirements/gateway.ts";
import type { Requirement } from "../requirements/requirement.ts";
import { REST_REQUIREMENTS } from "../requirements/rest.ts";
import { REQUIREMENTS } from "../requirements.ts";
import { type Citation, readCitations } from "./citations.ts";

interface CitableItem {
  text: string;
  state: "covered" | "planned";
}

const CITABLE = new Map<string, CitableItem>([
  ...Object.entries(REQUIREMENTS).map(([id, { section, clause, state }]): [string, CitableItem] => [
    id,
    { text: `${id} (section ${section}): ${clause}`, state },
  ]),
  ...Object.entries(HAZARDS).map(([number, { title, state }]): [string, CitableItem] => [
    `hazard.${number}`,
    { text: `hazard(${number}): ${title}`, state },
  ]),
]);

const TESTS = join(import.meta.dirname, "..");
const citationsByFile = globSync("**/*.ts", { cwd: TESTS, exclude: ["support/verifies.ts"] }).map((file) =>
  readCitations(`test/${file}`, readFileSync(join(TESTS, file), "utf8")),
);
const citations = citationsByFile.flatMap(({ found }) => found);
const describeCitation = ({ id, file, line }: Citation) => `${id} at ${file}:${line}`;

test("every covered clause and hazard is cited by a test that is not skipped", () => {
  const cited = new Set(citations.filter(({ skipped }) => !skipped).map(({ id }) => id));
  const missing = [...CITABLE].filter(([id, { state }]) => state === "covered" && !cited.has(id));
  expect(missing.map(([, { text }]) => text)).toEqual([]);
});

test("every citation names a clause or a hazard that exists", () => {
  expect(citations.filter(({ id }) => !CITABLE.has(id)).map(describeCitation)).toEqual([]);
});

test("no test cites a clause or hazard that is marked as planned", () => {
  expect(citations.filter(({ id }) => CITABLE.get(id)?.state === "planned").map(describeCitation)).toEqual([]);
});

test("every citation is a literal", () => {
  expect(citationsByFile.flatMap(({ unreadable }) => unreadable)).toEqual([]);
});

test("the ids of all clauses differ", () => {
  const ids = [REST_REQUIREMENTS, GATEWAY_REQUIREMENTS, FURTHER_REQUIREMENTS].flatMap((part) => Object.keys(part));
  expect(ids).toHaveLength(new Set(ids).size);
});

const COVERED = Object.entries<Requirement>(REQUIREMENTS).filter(([, { state }]) => state === "covered");
const coveredProcedures = new Set(COVERED.flatMap(([, { procedures = [] }]) => procedures));
const coveredCommands = new Set(COVERED.flatMap(([, { commands = [] }]) => commands));

/** The names in ids such as `tool.service_execute` and `tool.service_execute.result`. */
const coveredTools = new Set(COVERED.flatMap(([id]) => /^tool\.([^.]+)/.exec(id)?.[1] ?? []));
/** The clause about the tools of apps. */
const TOOL_OF_APPS = "direct";

const procedurePaths = Object.keys(appRouter._def.procedures);
const offeredByTool = new Set([...TOOLS.values()].map(({ path }) => path));

interface Listed {
  name(): string;
  commands: readonly Listed[];
}

/** Full names of the commands that have no commands below them. */
function listCommands(parent: Listed, prefix = ""): string[] {
  return parent.commands.flatMap((command) => {
    const name = `${prefix}${command.name()}`;
    return command.commands.length === 0 ? [name] : listCommands(command, `${name} `);
  });
}

const derivedCommands = new Set(COMMANDS.map(({ words }) => words.join(" ")));
const commands = listCommands(createProgram(() => ({}) as never)).filter((name) => !derivedCommands.has(name));

test("every operation of REST is named by a covered clause", () => {
  expect(OPERATIONS.map(({ procedure }) => procedure).filter((path) => !coveredProcedures.has(path))).toEqual([]);
});

test("every procedure is named by a covered clause, or offered by a tool with a clause of its own", () => {
  expect(procedurePaths.filter((path) => !coveredProcedures.has(path) && !offeredByTool.has(path))).toEqual([]);
});

test("every tool has a covered clause of its own", () => {
  expect([...TOOLS.keys()].filter((name) => !coveredTools.has(name))).toEqual([]);
});

test("every command that is not derived from a procedure is named by a covered clause", () => {
  expect(commands).toContain("login");
  expect(commands.filter((name) => !coveredCommands.has(name))).toEqual([]);
});

test("clauses name only procedures, tools and commands that exist", () => {
  const unknown = [
    ...[...coveredProcedures].filter((path) => !procedurePaths.includes(path)),
    ...[...coveredTools].filter((name) => !TOOLS.has(name) && name !== TOOL_OF_APPS),
    ...[...coveredCommands].filter((name) => !commands.includes(name)),
  ];
  expect(unknown).toEqual([]);
});
