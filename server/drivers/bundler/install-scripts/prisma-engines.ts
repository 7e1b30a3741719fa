import type { PackageRegistry, ServedPackages } from "../../../ports/package-registry.ts";
import type { BuildContext } from "../build-step.ts";
import { SANDBOX_PATHS } from "../toolchain.ts";

const HOST = "binaries.prisma.sh";
const STAND_IN = `${SANDBOX_PATHS.scripts}/script-bin/prisma-engine`;

/** The package that downloads the engines of Prisma. Since version 7, a client has none. */
const ENGINES = /^@prisma\/engines@(\d+)\./;
const FIRST_WITHOUT_QUERY_ENGINE = 7;

/** Versions before it have a migration engine in place of the schema engine. */
const FIRST_WITH_SCHEMA_ENGINE = 5;

/** Variables with which `prisma generate` works without a download: it checks that the engines exist, and runs none of them. */
const STAND_INS = {
  PRISMA_SCHEMA_ENGINE_BINARY: STAND_IN,
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
  /** Whether a later build may have the engines that this one lacks. */
  isIncomplete: boolean;
}

const WITH_ENGINES: PrismaEngines = { env: {}, warnings: [], isIncomplete: false };

/** Whether the operator lets builds download the engines of Prisma. */
export function allowsEngines({ egress }: Pick<BuildContext, "egress">): boolean {
  return egress?.hosts.includes(`${HOST}:443`) ?? false;
}

/** Whether a package of an install downloads the engines of Prisma. */
export function needsEngines(packages: ReadonlySet<string>): boolean {
  return [...packages].some((each) => ENGINES.test(each));
}

/**
 * Lets Prisma download its engines, or replaces them by a program that stands for them if it cannot.
 *
 * @param haveScriptsRun - in an earlier build of the same app, which stored what they created only with the engines
 */
export async function prepareEngines(
  context: BuildContext,
  registry: PackageRegistry,
  { packages }: ServedPackages,
  haveScriptsRun: boolean,
): Promise<PrismaEngines> {
  if (!needsEngines(packages)) return WITH_ENGINES;
  if (!allowsEngines(context)) return withoutEngines(packages, "which builds may not reach (BUILD_EGRESS)", false);
  const hasEngines = haveScriptsRun || (await registry.reachesEngines(context.request.signal));
  return hasEngines ? WITH_ENGINES : withoutEngines(packages, "which does not respond", true);
}

/** What the following steps use if the download of the engines has failed. The build log says why. */
export function afterFailedDownload({ packages }: ServedPackages): PrismaEngines {
  return withoutEngines(packages, "which failed", true);
}

function withoutEngines(packages: ReadonlySet<string>, reason: string, isIncomplete: boolean): PrismaEngines {
  const majors = [...packages].map((each) => ENGINES.exec(each)?.[1]).filter((major) => major !== undefined);
  const isEvery = (first: number) => majors.every((major) => Number(major) >= first);
  const text = `Prisma downloads its query engine from ${HOST}, ${reason}. Prisma Client works with a driver adapter only.`;
  const env = {
    ...STAND_INS,
    ...(!isEvery(FIRST_WITH_SCHEMA_ENGINE) && { PRISMA_MIGRATION_ENGINE_BINARY: STAND_IN }),
  };
  return { env, warnings: isEvery(FIRST_WITHOUT_QUERY_ENGINE) ? [] : [text], isIncomplete };
}
