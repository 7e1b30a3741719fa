/** What an install asked for in vain: names of packages, and of hosts. */
export interface PackageReport {
  /** Packages for which the registry did not answer. */
  unavailable: readonly string[];
  /** Packages that the registry does not have. */
  missing: readonly string[];
  /** Hosts other than the registry. */
  refused: readonly string[];
}

/** One install's way to packages. Disposing of it closes it. */
export interface PackageSession extends AsyncDisposable {
  /** A unix socket that speaks HTTP as a proxy does. */
  socketPath: string;
  /** The registry to ask that proxy for; ends with a slash. */
  registryUrl: string;
  report(): PackageReport;
}

/** Where installs get packages from, and nothing else. */
export interface PackageSource {
  open(): Promise<PackageSession>;
}
