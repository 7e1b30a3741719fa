import type { BuildRegistry } from "../../domain/ports/bundler.ts";

/** Why an install could not get everything it asked for. */
export interface PackageReport {
  /** Names of packages for which the registry did not respond. */
  unavailable: readonly string[];
  /** Packages that the registry does not have; with `version`, those of which it does not have this version. */
  missing: readonly { name: string; version: string | null }[];
  /** URLs outside of the registry that could not be fetched, and why, as part of a sentence. */
  failedUrls: readonly { url: string; reason: string }[];
  /** Hosts other than the registry that the install tried to reach. */
  blockedHosts: readonly string[];
  /** The limit of one install that it exceeded: the packages beside its dependencies, or the size of all packages. */
  exceeded: "otherPackages" | "bytes" | null;
}

/** A request for another host, or for a package that is not allowed. */
export interface RefusedRequest {
  /** The package whose script sent the request, as the sandbox says; `null` before the first one. */
  script: string | null;
  host: string | null;
  packageName: string | null;
}

/** What an install received. */
export interface ServedPackages {
  /** In the form `name@version`. */
  packages: ReadonlySet<string>;
  /** Those of them with a script that runs when they are installed, and the URLs of all packages outside of the registry. */
  withScripts: ReadonlySet<string>;
}

/** The package access of one install. Disposing of it closes the socket. */
export interface PackageSession extends AsyncDisposable {
  /** A unix socket of the host that serves as an HTTP proxy. */
  socketPath: string;
  /** The registry URL that the package manager requests through that proxy; ends with a slash. */
  registryUrl: string;
  /**
   * A file with the certificate that the session uses for the hosts of packages outside of the registry. The package manager
   * must trust it. `null` if the project names no such packages.
   */
  certificateFile: string | null;
  report(): PackageReport;
  refused(): readonly RefusedRequest[];
  served(): ServedPackages;
}

/** What an install may request beside packages of the registry by their names. */
export interface InstallAccess {
  /** Texts that name URLs and repositories of git: the manifests and the lockfile of the project. */
  sources?: readonly string[];
  registry?: BuildRegistry | null;
}

/** What install scripts may request beside packages. */
export interface ScriptAccess extends Pick<InstallAccess, "registry"> {
  /** Whether they may download the engines of Prisma. */
  engines?: boolean;
}

/** Gives installs access to the package registry, and to what their projects name at public addresses. */
export interface PackageRegistry {
  /**
   * @param names - the package names in the project's manifests and lockfile; further names are allowed. These and what
   *   they depend on are not limited in number.
   * @throws when the settings of the registry cannot be read, or the socket cannot be opened
   */
  open(names: ReadonlySet<string>, access?: InstallAccess): Promise<PackageSession>;

  /**
   * Gives install scripts access to packages that an install resolved, and to no other.
   *
   * @param packages - in the form `name@version`
   * @throws as `open` does
   */
  openResolved(packages: ReadonlySet<string>, access?: ScriptAccess): Promise<PackageSession>;

  /** Whether the host of Prisma's engines responds. */
  reachesEngines(signal: AbortSignal): Promise<boolean>;
}
