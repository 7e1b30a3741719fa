/** Hosts of repositories from which package managers fetch archives, and the hosts that serve those of each. */
const SERVED_BY: Readonly<Record<string, readonly string[]>> = {
  "github.com": ["github.com", "codeload.github.com", "raw.githubusercontent.com", "api.github.com"],
  "gitlab.com": ["gitlab.com"],
  "bitbucket.org": ["bitbucket.org"],
};

/** Registries of which the mirror serves the packages by their names. */
const REGISTRY = /^registry\.(npmjs\.org|yarnpkg\.com|npmmirror\.com)$/;

const URL_TEXT =
  /\b(?:git\+)?(https?|ssh|git):\/\/(?:[\w.~%:-]+@)?([\w-]+(?:\.[\w-]+)+(?::\d+)?)(\/[^\s"'<>(){},\\]*)/g;
/** `git@github.com:owner/name` */
const SCP_TEXT = /\bgit@([\w-]+(?:\.[\w-]+)+):([\w~.-]+(?:\/[\w~.-]+)+)/g;
/** `github:owner/name`, and `owner/name` as a whole text, which means the same. */
const SHORT_TEXT =
  /\b(github|gitlab|bitbucket):([\w.-]+\/[\w.-]+)|(?<=["'@: ])([\w][\w-]*\/[\w.-]+)(?:#[^"'\s]*)?(?=["'\s]|$)/gm;
const SHORT_HOSTS: Readonly<Record<string, string>> = { gitlab: "gitlab.com", bitbucket: "bitbucket.org" };

/** Bounds what a manifest can make the service hold in memory. */
const MAX_ENTRIES = 20_000;
const MAX_HOSTS = 500;

/**
 * The packages outside of the registry that the manifests and lockfiles of a project name: URLs, and repositories of GitHub,
 * GitLab and Bitbucket. As with the names of packages, the texts are not parsed: a project may name any URL.
 */
export class RemoteSources {
  readonly #urls = new Set<string>();
  /** In the form `host/owner/name`, in lower case. */
  readonly #repositories = new Set<string>();
  readonly #hosts = new Set<string>();

  /** Adds everything that a manifest or a lockfile names. */
  add(text: string): void {
    for (const [, scheme = "", host = "", path = ""] of text.matchAll(URL_TEXT)) this.#addUrl(scheme, host, path);
    for (const [, host = "", path = ""] of text.matchAll(SCP_TEXT)) this.#addRepository(host, path);
    for (const [, host = "", named, short] of text.matchAll(SHORT_TEXT))
      this.#addRepository(SHORT_HOSTS[host] ?? "github.com", named ?? short ?? "");
  }

  /** The `host` or `host:port` of everything that is named. */
  get hosts(): ReadonlySet<string> {
    return this.#hosts;
  }

  admits({ host, pathname, search }: URL): boolean {
    if (this.#urls.has(`${host}${pathname}${search}`)) return true;
    const origin = Object.entries(SERVED_BY).find(([, hosts]) => hosts.includes(host))?.[0] ?? host;
    const [first = "", second = "", ...rest] = pathname.split("/").slice(host === "api.github.com" ? 2 : 1);
    const name = `${origin}/${first}/${second.replace(/\.git$/, "")}`.toLowerCase();
    // A repository of another host, or in a group of GitLab, can have a longer path.
    return this.#repositories.has(name) || this.#hasLonger(`${origin}/${first}/${second}`, rest);
  }

  #hasLonger(start: string, rest: readonly string[]): boolean {
    return rest.some((_part, index) =>
      this.#repositories.has(
        [start, ...rest.slice(0, index + 1)]
          .join("/")
          .toLowerCase()
          .replace(/\.git$/, ""),
      ),
    );
  }

  #addUrl(scheme: string, host: string, path: string): void {
    const [address = ""] = path.split("#");
    if (REGISTRY.test(host)) return;
    if (scheme === "https" && this.#hasRoom()) {
      const url = URL.parse(`https://${host}${address}`);
      if (url !== null) this.#urls.add(`${url.host}${url.pathname}${url.search}`);
      this.#addHost(host);
    }
    const origin = Object.keys(SERVED_BY).find((each) => SERVED_BY[each]?.includes(host));
    if (origin !== undefined || scheme !== "https" || address.endsWith(".git"))
      this.#addRepository(origin ?? host, address.slice(host === "api.github.com" ? "/repos/".length : 1));
  }

  #addRepository(host: string, path: string): void {
    const parts = path.split(/[/#?]/).filter((part) => part !== "");
    const kept = host === "github.com" || host === "bitbucket.org" ? parts.slice(0, 2) : parts;
    if (kept.length < 2 || !this.#hasRoom()) return;
    this.#repositories.add(`${host}/${kept.join("/").replace(/\.git$/, "")}`.toLowerCase());
    for (const each of SERVED_BY[host] ?? [host]) this.#addHost(each);
  }

  #addHost(host: string): void {
    if (this.#hosts.size < MAX_HOSTS) this.#hosts.add(host.toLowerCase());
  }

  #hasRoom(): boolean {
    return this.#urls.size + this.#repositories.size < MAX_ENTRIES;
  }
}
