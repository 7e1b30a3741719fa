/**
 * Attacks the service through builds, apps and programs, with the control groups of this host and without any, and through
 * its APIs. Prints a table, and exits with 1 if an attack succeeded in spite of all limits.
 *
 * Usage: npm run test:hostile [-- <words of an attack's name>]
 */
import { NO_GROUPS, type ControlGroups } from "../../server/sandbox/cgroups/control-groups.ts";
import { openControlGroups } from "../../server/sandbox/cgroups/open-control-groups.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { APP_ATTACKS } from "./app-attacks.ts";
import type { Attack, AttackResult } from "./attack.ts";
import { AVAILABILITY_ATTACKS } from "./availability-attacks.ts";
import { BUILD_ATTACKS } from "./build-attacks.ts";
import { DEPENDENCY_ATTACKS } from "./dependency-attacks.ts";
import { PROGRAM_ATTACKS } from "./program-attacks.ts";

/** More than every attack may take. */
const ATTACK_TIMEOUT_MS = 300_000;

const words = process.argv.slice(2).join(" ").toLowerCase();
const attacks = [
  ...BUILD_ATTACKS,
  ...DEPENDENCY_ATTACKS,
  ...APP_ATTACKS,
  ...PROGRAM_ATTACKS,
  ...AVAILABILITY_ATTACKS,
].filter(({ name }) => name.toLowerCase().includes(words));

await using groups = await openControlGroups();
if (groups.problem !== null) process.stderr.write(`On this host, ${groups.problem}.\n`);
const environments = groups.version === null ? [NO_GROUPS] : [groups, NO_GROUPS];
const titles = environments.map(({ version }) =>
  version === null ? "Without control groups" : `With control groups (${version})`,
);

process.stdout.write(`| Attack | Through | ${titles.join(" | ")} |\n|---|---|${titles.map(() => "---|").join("")}\n`);
const NOT_REPEATED: AttackResult = { isContained: true, text: "" };
let succeeded = 0;
for (const attack of attacks) {
  const results: AttackResult[] = [];
  for (const environment of attack.through === "API" ? environments.slice(0, 1) : environments)
    results.push(await tryAttack(attack, environment));
  if (results[0]?.isContained === false) succeeded++;
  const cells = environments
    .map((_environment, index) => results[index] ?? NOT_REPEATED)
    .map(({ isContained, text }) => `${isContained ? "" : "**Succeeded**: "}${text}`);
  process.stdout.write(`| ${attack.name} | ${attack.through} | ${cells.join(" | ")} |\n`);
}
process.stdout.write(`\n${attacks.length} attacks, ${succeeded} succeeded in spite of all limits of this host\n`);
process.exitCode = succeeded === 0 ? 0 : 1;

async function tryAttack(attack: Attack, environment: ControlGroups): Promise<AttackResult> {
  await using folder = await temporaryFolder();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<AttackResult>((resolve) => {
    timer = setTimeout(() => resolve({ isContained: false, text: "did not end in time" }), ATTACK_TIMEOUT_MS);
  });
  const attempt = attack.run({ groups: environment, folder: folder.path });
  // An attack that breaks the sandbox itself has succeeded.
  const result = attempt.catch((error: unknown) => ({ isContained: false, text: `error: ${String(error)}` }));
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
