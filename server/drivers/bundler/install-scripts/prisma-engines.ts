import type { ServedPackages } from "../../../ports/package-registry.ts";
import type { BuildContext } from "../build-step.ts";
import { SANDBOX_PATHS } from "../toolchain.ts";

const HOST = "binaries.prisma.sh";
const STAND_IN = `${SANDBOX_PATHS.scripts}/script-bin/prisma-engine`;

/** The package that downloads the engines of Prisma. Since version 7, a client has none. */
const ENGINES = /^@prisma\/engines@(\d+)\./;
const FIRST_WITHOUT_QUERY_ENGINE = 7;

/**
 * The variables of the following steps with which `prisma generate` works without a download: it checks that the engines
 * exist, and runs none of them. Empty if the project has no Prisma, or if its build can download.
 */
export function prismaEnvironment(
  { request, egress }: BuildContext,
  { packages }: ServedPackages,
): Record<string, string> {
  const isOpen = request.network === true && egress?.isPublic === true;
  if (isOpen || egress?.hosts.includes(`${HOST}:443`) || ![...packages].some((each) => ENGINES.test(each))) return {};
  return {
    PRISMA_SCHEMA_ENGINE_BINARY: STAND_IN,
    PRISMA_QUERY_ENGINE_LIBRARY: STAND_IN,
    PRISMA_QUERY_ENGINE_BINARY: STAND_IN,
    CHECKPOINT_DISABLE: "1",
  };
}

/** Says what a client of Prisma without its engine cannot do. */
export function describePrismaEngines(context: BuildContext, served: ServedPackages): string[] {
  if (Object.keys(prismaEnvironment(context, served)).length === 0) return [];
  const majors = [...served.packages].map((each) => ENGINES.exec(each)?.[1]).filter((major) => major !== undefined);
  if (majors.every((major) => Number(major) >= FIRST_WITHOUT_QUERY_ENGINE)) return [];
  return [
    "Prisma downloads its query engine from binaries.prisma.sh, which builds cannot reach. Prisma Client works with a driver adapter only.",
  ];
}
