/**
 * Attacks the service through builds, apps and programs, with the control groups of this host and without any, and through
 * its APIs. Prints a table, and exits with 1 if an attack succeeded in spite of all limits.
 *
 * Usage: npm run test:hostile [-- <words of an attack's name>]
 */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { hostileActs } from "../../bench/fairness/hostile-acts.ts";
import { HostileEndpoints } from "../../bench/fairness/hostile-endpoints.ts";
import { ActMeasurement, formatObservation } from "../../bench/fairness/measure-act.ts";
import { startService } from "../../bench/support/start-servers.ts";
import { DependencyStore } from "../../server/drivers/bundler/dependencies/dependency-store.ts";
import { SANDBOX_PATHS } from "../../server/drivers/bundler/toolchain.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { NO_GROUPS, type ControlGroups } from "../../server/sandbox/cgroups/control-groups.ts";
import { openControlGroups } from "../../server/sandbox/cgroups/open-control-groups.ts";
import { createCheckout } from "../support/builds/bundle-checkout.ts";
import { createTestMirror } from "../support/builds/create-bundler.ts";
import { greetingNpmProject, GREETING_PACKAGES, WORDS } from "../support/builds/greeting-packages.ts";
import { installCheckout, readImported } from "../support/builds/install-checkout.ts";
import { startRegistry } from "../support/builds/test-registry.ts";
import { runIn } from "../support/sandbox/sandbox-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { APP_ATTACKS } from "./app-attacks.ts";
import { ARCHIVE_ATTACKS } from "./archive-attacks.ts";
import type { Attack, AttackEnvironment, AttackResult } from "./attack.ts";
import { BUILD_ATTACKS } from "./build-attacks.ts";
import { CUSTOMIZATION_ATTACKS } from "./customization-attacks.ts";
import { FORWARDER_ATTACKS } from "./forwarder-attacks.ts";
import { IMPORT_ATTACKS } from "./import-attacks.ts";
import { INSTALL_ATTACKS } from "./install-attacks.ts";
import { INTERNAL_ATTACKS } from "./internal-attacks.ts";
import { NATIVE_ATTACKS } from "./native-attacks.ts";
import { PROGRAM_ATTACKS } from "./program-attacks.ts";
import { POSTGRES_ATTACKS } from "./postgres-attacks.ts";
import { POSTGRES_SHARED_ATTACKS } from "./postgres-shared-attacks.ts";
import { PUSH_ATTACKS } from "./push-attacks.ts";
import { SERVER_ATTACKS } from "./server-attacks.ts";

/** Tries to change the archive that is mounted while dependencies are restored, and to find those of others. */
const CHANGE_ARCHIVE = `cd ${SANDBOX_PATHS.dependencies}
  for each in "chmod 777 . source.tar" "rm -f source.tar" "mv source.tar /tmp/moved" "ln -s /etc/passwd other" \\
    "dd if=/dev/zero of=source.tar conv=notrunc count=1" "mount -o remount,rw ."; do
    $each 2>/dev/null && echo "done: $each"
  done
  find / -name source.tar -not -path '/proc/*' 2>/dev/null`;

const DEPENDENCY_ATTACKS: readonly Attack[] = [
  { name: "Stored dependencies of another organization", through: "build", run: attackStore },
];

async function attackStore({ groups, folder }: AttackEnvironment): Promise<AttackResult> {
  await using registry = await startRegistry(GREETING_PACKAGES);
  const dependencies = new DependencyStore(path.join(folder, "dependencies"));
  const packages = createTestMirror({ registry: registry.url }, path.join(folder, "packages"));
  const install = async (organizationId: string) => {
    await using checkout = await createCheckout(greetingNpmProject());
    const log = await installCheckout(packages, checkout, { dependencies, organizationId });
    await dependencies.close();
    return { isReused: log.includes("using those"), words: await readImported(checkout, "greeting", "@scope/words") };
  };
  await install("victim");
  await install("attacker");
  const own = path.join(folder, "dependencies", "attacker");
  const [key = ""] = await readdir(own);
  const mounts = [{ from: path.join(own, key), to: SANDBOX_PATHS.dependencies, writable: false }];
  const sandbox = new BubblewrapSandbox({ groups });
  const { output } = await runIn(sandbox, ["/bin/sh", "-c", CHANGE_ARCHIVE], { mounts });
  const found = output.toString().trim();
  const after = [await install("victim"), await install("attacker")];
  const isIntact = after.every(({ isReused, words }) => isReused && words === WORDS);
  const isContained = isIntact && found === `${SANDBOX_PATHS.dependencies}/source.tar`;
  const text = isContained
    ? "refused; only the own archive is visible, and it is unchanged"
    : `${found}, intact: ${isIntact}`;
  return { isContained, text };
}

/** What one organization does through the APIs, so that others wait. Another organization observes the service meanwhile. */
const AVAILABILITY_ATTACKS: readonly Attack[] = hostileActs.map((act) => ({
  name: act.name,
  through: "API",
  run: async ({ folder }) => {
    const { signal } = new AbortController();
    await using endpoints = await HostileEndpoints.open();
    await using service = await startService({ dataDirectory: folder, settings: endpoints.settings }, signal);
    await using measurement = await ActMeasurement.open(service, signal);
    await measurement.measureQuiet();
    const { seen, isFair } = await measurement.measure(act, endpoints);
    return { isContained: isFair, text: `another organization: ${formatObservation(seen)}` };
  },
}));

/** More than every attack may take. */
const ATTACK_TIMEOUT_MS = 300_000;

const words = process.argv.slice(2).join(" ").toLowerCase();
const attacks = [
  ...BUILD_ATTACKS,
  ...DEPENDENCY_ATTACKS,
  ...INSTALL_ATTACKS,
  ...FORWARDER_ATTACKS,
  ...APP_ATTACKS,
  ...SERVER_ATTACKS,
  ...NATIVE_ATTACKS,
  ...POSTGRES_ATTACKS,
  ...POSTGRES_SHARED_ATTACKS,
  ...PROGRAM_ATTACKS,
  ...CUSTOMIZATION_ATTACKS,
  ...ARCHIVE_ATTACKS,
  ...PUSH_ATTACKS,
  ...IMPORT_ATTACKS,
  ...INTERNAL_ATTACKS,
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
