/** Words in names of packages for one operating system. */
const SYSTEMS =
  /^(aix|android|androideabi|cygwin|darwin|freebsd|linux|linuxmusl|macos|netbsd|openbsd|openharmony|sunos|win32|windows)$/;

/** Words in names of packages for one processor that is neither x64 nor arm64. */
const OTHER_PROCESSORS =
  /^(arm|armhf|armv\d\w*|gnueabihf|musleabihf|i\d86|ia32|loong64|loongarch64|mips64el|powerpc64le|ppc64|ppc64le|riscv64|riscv64gc|s390x)$/;
const X64 = /^(x64|amd64)$/;
const ARM64 = /^(arm64|aarch64)$/;

/** The list of optional dependencies of an entry in yarn.lock of Yarn 1. */
const OPTIONAL_DEPENDENCIES = /^ {2}optionalDependencies:\n((?: {4}.*\n?)+)/gm;

/**
 * Removes optional dependencies for other operating systems and processors from the entries of a yarn.lock. Yarn 1 downloads and
 * unpacks them before it leaves them out: 340 MB for esbuild, more than 1 GB for Next.js.
 */
export function removeOtherPlatforms(yarnLock: string, processor: string = process.arch): string {
  return yarnLock.replaceAll(OPTIONAL_DEPENDENCIES, (section, dependencies: string) => {
    const lines = dependencies.split(/(?<=\n)/);
    const kept = lines.filter((line) => !isForOtherPlatform(/"?([^"\s]+)/.exec(line)?.[1] ?? "", processor));
    if (kept.length === lines.length) return section;
    return kept.length === 0 ? "" : `  optionalDependencies:\n${kept.join("")}`;
  });
}

/** Whether the name of a package says that it is for another platform than Linux on this processor. */
function isForOtherPlatform(name: string, processor: string): boolean {
  if (name === "fsevents") return true;
  const words = name.split(/[^a-z\d]+/);
  const systems = words.filter((word) => SYSTEMS.test(word));
  if (systems.length === 0) return false;
  if (!systems.some((system) => system.startsWith("linux"))) return true;
  const other = processor === "arm64" ? X64 : ARM64;
  return words.some((word) => OTHER_PROCESSORS.test(word) || other.test(word));
}
