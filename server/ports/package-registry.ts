/** Why an install could not get everything it asked for. */
export interface PackageReport {
  /** Names of packages for which the registry did not respond. */
  unavailable: readonly string[];
  /** Packages that the registry does not have; with `version`, those of which it does not have this version. */
  missing: readonly { name: string; version: string | null }[];
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
  /** Those of them with a script that runs when they are installed. */
  withScripts: ReadonlySet<string>;
}

/** The package access of one install. Disposing of it closes the socket. */
export interface PackageSession extends AsyncDisposable {
  /** A unix socket of the host that serves as an HTTP proxy. */
  socketPath: string;
  /** The registry URL that the package manager requests through that proxy; ends with a slash. */
  registryUrl: string;
  report(): PackageReport;
  refused(): readonly RefusedRequest[];
  served(): ServedPackages;
}

/** Gives installs access to the package registry, and to no other host. */
export interface PackageRegistry {
  /**
   * @param names - the package names in the project's manifests and lockfile; further names are allowed. These and what
   *   they depend on are not limited in number.
   * @throws when the settings of the registry cannot be read, or the socket cannot be opened
   */
  open(names: ReadonlySet<string>): Promise<PackageSession>;

  /**
   * Gives install scripts access to packages that an install resolved, and to no other.
   *
   * @param packages - in the form `name@version`
   * @throws as `open` does
   */
  openResolved(packages: ReadonlySet<string>): Promise<PackageSession>;
}
