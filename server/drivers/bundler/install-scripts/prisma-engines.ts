import type { ServedPackages } from "../../../ports/package-registry.ts";
import { connectTo, lookupAll } from "../../../sandbox/connect-to-host.ts";
import { isReachable } from "../../../sandbox/public-address.ts";
import type { BuildContext } from "../build-step.ts";
import { SANDBOX_PATHS } from "../toolchain.ts";

const HOST = "binaries.prisma.sh";
const STAND_IN = `${SANDBOX_PATHS.scripts}/script-bin/prisma-engine`;

/** The package that downloads the engines of Prisma. Since version 7, a client has none. */
const ENGINES = /^@prisma\/engines@(\d+)\./;
const FIRST_WITHOUT_QUERY_ENGINE = 7;

/**
 * Variables with which `prisma generate` works without a download: it checks that the engines exist, and runs none of them.
 * The migration engine is that of versions before 5.
 */
const STAND_INS = {
  PRISMA_SCHEMA_ENGINE_BINARY: STAND_IN,
  PRISMA_MIGRATION_ENGINE_BINARY: STAND_IN,
  PRISMA_QUERY_ENGINE_LIBRARY: STAND_IN,
  PRISMA_QUERY_ENGINE_BINARY: STAND_IN,
  CHECKPOINT_DISABLE: "1",
} as const;

/** How the steps after an install get the engines of Prisma, which no npm package contains. */
export interface PrismaEngines {
  /** Variables of these steps. */
  env: Readonly<Record<string, string>>;
  /** Says what a client of Prisma without its engine cannot do. */
  warnings: readonly string[];
  /** Whether the operator allows the download, and a later build may succeed with it. */
  isUnreachable: boolean;
}

/** Returns where install scripts may download the engines of Prisma, as `host:port`; `null` if the operator does not allow it. */
export function enginesHost({ egress }: Pick<BuildContext, "egress">): string | null {
  return egress?.hosts.find((authority) => authority.startsWith(`${HOST}:`)) ?? null;
}

/** Whether a package of an install downloads the engines of Prisma. */
export function needsEngines(packages: ReadonlySet<string>): boolean {
  return [...packages].some((each) => ENGINES.test(each));
}

/**
 * Lets Prisma download its engines, or replaces them by a program that stands for them if it cannot.
 *
 * @param haveScriptsRun - in an earlier build of the same app, which stored what they created only if they could download
 */
export async function prepareEngines(
  context: BuildContext,
  { packages }: ServedPackages,
  haveScriptsRun: boolean,
): Promise<PrismaEngines> {
  const host = enginesHost(context);
  const hasEngines = !needsEngines(packages) || (host !== null && haveScriptsRun);
  if (hasEngines || (await canDownload(host, context))) return { env: {}, warnings: [], isUnreachable: false };
  return { env: STAND_INS, warnings: describe(packages, host), isUnreachable: host !== null };
}

function describe(packages: ReadonlySet<string>, host: string | null): string[] {
  const majors = [...packages].map((each) => ENGINES.exec(each)?.[1]).filter((major) => major !== undefined);
  if (majors.every((major) => Number(major) >= FIRST_WITHOUT_QUERY_ENGINE)) return [];
  const reason =
    host === null
      ? "which builds cannot reach (the operator can allow it with BUILD_EGRESS=fonts,prisma)"
      : "which does not respond to the machine of the service";
  return [`Prisma downloads its query engine from ${HOST}, ${reason}. Prisma Client works with a driver adapter only.`];
}

/** @param authority - of `enginesHost` */
async function canDownload(authority: string | null, { egress }: BuildContext): Promise<boolean> {
  if (authority === null || egress === null) return false;
  const { lookup = lookupAll, isAllowedAddress = isReachable } = egress;
  const port = Number(authority.slice(HOST.length + 1));
  try {
    const addresses = (await lookup(HOST)).filter(({ address }) => isAllowedAddress(address, HOST));
    if (addresses.length === 0) return false;
    (await connectTo({ host: HOST, port }, addresses)).destroy();
    return true;
  } catch {
    return false;
  }
}
