import { readdir } from "node:fs/promises";
import path from "node:path";
import { SANDBOX_PATHS } from "../../server/drivers/bundler/toolchain.ts";
import { DependencyStore } from "../../server/drivers/bundler/dependencies/dependency-store.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { createTestMirror } from "../support/builds/create-bundler.ts";
import { createCheckout } from "../support/builds/bundle-checkout.ts";
import { greetingNpmProject, GREETING_PACKAGES, WORDS } from "../support/builds/greeting-packages.ts";
import { installCheckout, readImported } from "../support/builds/install-checkout.ts";
import { startRegistry } from "../support/builds/test-registry.ts";
import { runIn } from "../support/sandbox/sandbox-command.ts";
import type { Attack, AttackEnvironment, AttackResult } from "./attack.ts";

/** Tries to change the archive that is mounted while dependencies are restored, and to find those of others. */
const CHANGE_ARCHIVE = `cd ${SANDBOX_PATHS.dependencies}
  for each in "chmod 777 . source.tar" "rm -f source.tar" "mv source.tar /tmp/moved" "ln -s /etc/passwd other" \\
    "dd if=/dev/zero of=source.tar conv=notrunc count=1" "mount -o remount,rw ."; do
    $each 2>/dev/null && echo "done: $each"
  done
  find / -name source.tar -not -path '/proc/*' 2>/dev/null`;

export const DEPENDENCY_ATTACKS: readonly Attack[] = [
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
