/**
 * The registry URL that package managers are configured with. The host does not exist: they send every request to
 * their proxy, which is the mirror. The scheme is http, so that they send the proxy the URL instead of a CONNECT.
 */
export const MIRROR_URL = "http://packages.invalid/";

/** A request to the mirror, by what it asks for. */
export type MirrorRequest =
  | { kind: "package"; name: string }
  | { kind: "tarball"; name: string; version: string }
  /** The start of an install script of a package, or of the project. */
  | { kind: "script"; script: string }
  /** A URL of another host, sent as if the mirror were an open proxy. */
  | { kind: "other-host"; host: string }
  | { kind: "unknown" };

export const MIRROR_HOST = new URL(MIRROR_URL).host;

const NAME = "(?:@[\\w~.-]+/)?[\\w~][\\w~.-]*";
const PACKAGE_PATH = new RegExp(`^/(${NAME})$`);

/** The name may follow a path prefix: clients replace only the host in the tarball URLs of a lockfile. */
const TARBALL_PATH = new RegExp(`^/(?:.*?/)??(${NAME})/-/(?:@[^/]+/)?([^/]+)\\.tgz$`);

/** The path by which install scripts are announced: `/-/script/sharp`. No package has it. */
const SCRIPT_PATH = new RegExp(`^/-/script/(${NAME})$`);

/** @param url - the request target: a path, or an absolute URL from a client that uses the mirror as its proxy */
export function parseMirrorRequest(url: string): MirrorRequest {
  const absolute = url.startsWith("/") ? null : URL.parse(url);
  if (absolute && absolute.host !== MIRROR_HOST) return { kind: "other-host", host: absolute.host };
  const path = decodePath(absolute?.pathname ?? url.replace(/[?#][^]*/, ""));
  const name = PACKAGE_PATH.exec(path)?.[1];
  if (name !== undefined) return { kind: "package", name };
  const script = SCRIPT_PATH.exec(path)?.[1];
  if (script !== undefined) return { kind: "script", script };
  return parseTarballPath(path);
}

/** GitHub's registry has another form: `/download/@scope/name/1.0.0/<hash>`. */
const DOWNLOAD_PATH = new RegExp(`^/download/(${NAME})/([\\w.+-]+)/[0-9a-f]{40,64}$`);

function parseTarballPath(path: string): MirrorRequest {
  const [, downloaded, downloadedVersion] = DOWNLOAD_PATH.exec(path) ?? [];
  if (downloaded !== undefined && downloadedVersion !== undefined)
    return { kind: "tarball", name: downloaded, version: downloadedVersion };
  const [name, file] = TARBALL_PATH.exec(path)?.slice(1) ?? [];
  const stem = `${name?.replace(/^@.*\//, "")}-`;
  if (name === undefined || !file?.startsWith(stem)) return { kind: "unknown" };
  return { kind: "tarball", name, version: file.slice(stem.length) };
}

/** Returns the empty string, which matches no path, when the escapes are invalid. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}
