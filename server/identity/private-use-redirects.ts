import type { BetterAuthPlugin, DBAdapter, DBTransactionAdapter } from "better-auth";
import type { Fields } from "./auth-call.ts";

/** In characters. */
const MAX_LENGTH = 1024;
/** Schemes that a browser or an operating system handles itself, by their first part: `chrome` includes `chrome-extension`. */
const RESERVED_SCHEMES = new Set(
  [
    // Run or show content in the browser.
    "javascript vbscript livescript data file filesystem blob about view jar resource feed cid jsapi devtools",
    "chrome moz safari edge opera brave vivaldi",
    // Belong to web pages (web+…), to other protocols of a browser, or to mail and calls.
    "http https ws wss web ftp ftps sftp gopher mailto tel callto sms smsto mms mmsto facetime sip sips geo maps",
    "news nntp irc ircs urn",
    // Connect to other machines, often with the user's credentials.
    "ssh telnet rlogin ldap ldaps smb cifs nfs afp rdp vnc dav davs webdav git svn magnet rtsp rtmp",
    // Open parts of the operating system, or install software (ms-…, x-apple…, search-ms).
    "ms search shell hcp mk its help res wscript onenote shortcuts applescript x prefs",
    "intent android content market itms itmss macappstore appstore",
  ].flatMap((schemes) => schemes.split(" ")),
);

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

/** The scheme of a URI that is not a web address, in lower case; `null` for a web address and for text without a scheme. */
export function readPrivateUseScheme(uri: string): string | null {
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase() ?? null;
  return scheme === "http" || scheme === "https" ? null : scheme;
}

/**
 * Checks a redirect URI whose scheme belongs to a program on the user's device (RFC 8252, section 7.1).
 *
 * @returns what is wrong with it, without quoting it; `null` when it is valid or is no such URI
 */
export function findPrivateUseProblem(uri: string): string | null {
  const scheme = readPrivateUseScheme(uri);
  if (scheme === null) return null;
  if (RESERVED_SCHEMES.has(scheme.split(/[+.-]/, 1)[0] ?? ""))
    return "the scheme has a meaning of its own and must not be used for redirects";
  const url = URL.parse(uri);
  if (uri.length > MAX_LENGTH || url === null || /[\s\p{Cc}\p{Cf}\p{Cs}\\]/u.test(uri))
    return `a private-use URI must have visible characters only, and at most ${MAX_LENGTH}`;
  if (!uri.slice(scheme.length + 1).startsWith("/"))
    return "a private-use URI must have a slash after the scheme, such as com.example.app:/callback";
  if (url.username !== "" || url.password !== "" || uri.includes("#"))
    return "a private-use URI must not have credentials or a fragment";
  return null;
}

/**
 * Returns the parameters of an authorization request with a consent prompt if its redirect URI has a private-use scheme.
 * Any program on the device can claim such a scheme and use the id of another client, so an earlier consent does not count
 * (RFC 8252, section 8.6).
 */
export function requireConsentForPrograms(parameters: Fields): Fields {
  const { redirect_uri: uri, prompt } = parameters;
  if (typeof uri !== "string" || readPrivateUseScheme(uri) === null) return parameters;
  const prompts = typeof prompt === "string" ? prompt.split(" ").filter((name) => name !== "" && name !== "none") : [];
  return { ...parameters, prompt: [...new Set([...prompts, "consent"])].join(" ") };
}

/** better-auth accepts this scheme, because it looks like a reversed domain name. No client can register it itself. */
const STAND_IN = "private-use.redirect:/";

/**
 * Returns the form in which better-auth accepts a checked redirect URI. It would reject most private-use schemes, such as
 * `cursor://`. `storePrivateUseRedirects` stores the original.
 */
export function encodeRedirectUri(uri: string): string {
  return readPrivateUseScheme(uri) === null ? uri : STAND_IN + Buffer.from(uri).toString("base64url");
}

function decodeRedirectUri(uri: unknown): unknown {
  if (typeof uri !== "string" || !uri.startsWith(STAND_IN)) return uri;
  return Buffer.from(uri.slice(STAND_IN.length), "base64url").toString();
}

/** Stores the redirect URIs of clients without the encoding of `encodeRedirectUri`. Every other part then sees the originals. */
export function storePrivateUseRedirects(): BetterAuthPlugin {
  return {
    id: "private-use-redirects",
    init: ({ adapter }) => ({ context: { adapter: wrapAdapter(adapter) } }),
  };
}

function wrapAdapter(adapter: DBAdapter): DBAdapter {
  return {
    ...wrapWrites(adapter),
    transaction: (work) => adapter.transaction((transaction) => work(wrapWrites(transaction))),
  };
}

function wrapWrites(adapter: DBTransactionAdapter): DBTransactionAdapter {
  return {
    ...adapter,
    create: (row) => adapter.create({ ...row, data: decodeFields(row.model, row.data) }),
    update: (row) => adapter.update({ ...row, update: decodeFields(row.model, row.update) }),
  };
}

function decodeFields<F extends Fields>(model: string, fields: F): F {
  const { redirectUris } = fields;
  if (model !== "oauthClient" || !Array.isArray(redirectUris)) return fields;
  return { ...fields, redirectUris: redirectUris.map(decodeRedirectUri) };
}
