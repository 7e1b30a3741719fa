import type { DBAdapter } from "better-auth";
import { expect, test } from "vitest";
import {
  encodeRedirectUri,
  findPrivateUseProblem,
  readPrivateUseScheme,
  requireConsentForPrograms,
  storePrivateUseRedirects,
} from "../../server/identity/private-use-redirects.ts";

test.each([
  ["cursor://callback", "cursor"],
  ["Com.Example.App:/callback", "com.example.app"],
  ["a+b-1:x", "a+b-1"],
  ["http://localhost/x", null],
  ["HTTPS://example.com", null],
  ["/path", null],
  ["1a:/x", null],
  ["x cursor:/x", null],
  ["", null],
])("the scheme of a program in %j is %j", (uri, scheme) => {
  expect(readPrivateUseScheme(uri)).toBe(scheme);
});

test.each([
  "javascript vbscript livescript data file filesystem blob about view-source jar resource feed cid jsapi devtools",
  "chrome-extension moz-extension safari edge opera brave vivaldi ws wss web+app ftp ftps sftp gopher mailto tel callto",
  "sms smsto mms mmsto facetime sip sips geo maps news nntp irc ircs urn ssh telnet rlogin ldap ldaps smb cifs nfs afp",
  "rdp vnc dav davs webdav git svn magnet rtsp rtmp ms-settings search-ms shell hcp mk its help res wscript onenote",
  "shortcuts applescript x-apple.systempreferences prefs intent android content market itms-apps itmss macappstore",
  "appstore",
])("no client may use one of the schemes %s", (schemes) => {
  for (const scheme of schemes.split(" "))
    expect([scheme, findPrivateUseProblem(`${scheme}:/x`)]).toEqual([scheme, expect.stringContaining("meaning")]);
});

test("a scheme that only begins like one with a meaning is allowed", () => {
  for (const uri of ["datafile:/x", "filex:/x", "com.data:/x", "http://localhost/x", "no scheme"])
    expect([uri, findPrivateUseProblem(uri)]).toEqual([uri, null]);
});

const LONGEST = `cursor:/${"x".repeat(1024 - "cursor:/".length)}`;

test.each([
  [LONGEST, /^$/],
  [`${LONGEST}x`, "visible characters"],
  ["cursor://a b", "visible characters"],
  ["cursor:/\u0007", "visible characters"],
  ["cursor:/\u200b", "visible characters"],
  ["cursor:/\\x", "visible characters"],
  ["cursor:/\ud800", "visible characters"],
  ["cursor://[", "visible characters"],
  ["cursor:callback", "a slash after the scheme"],
  ["cursor://user@callback", "credentials or a fragment"],
  ["cursor://:password@callback", "credentials or a fragment"],
  ["cursor://callback#x", "credentials or a fragment"],
  ["cursor://callback/?a=b", /^$/],
])("a redirect URI %j is checked", (uri, problem: string | RegExp) => {
  expect(findPrivateUseProblem(uri) ?? "").toMatch(problem);
});

test("an authorization for a program always asks for consent, and any other is unchanged", () => {
  const withPrompt = (prompt: unknown) => requireConsentForPrograms({ redirect_uri: "cursor://x", prompt })["prompt"];
  expect(withPrompt(undefined)).toBe("consent");
  expect(withPrompt(7)).toBe("consent");
  expect(withPrompt("none")).toBe("consent");
  expect(withPrompt("login  none")).toBe("login consent");
  expect(withPrompt("consent login")).toBe("consent login");
  for (const parameters of [{ redirect_uri: "https://example.com", prompt: "none" }, { prompt: "none" }])
    expect(requireConsentForPrograms(parameters)).toBe(parameters);
  expect(requireConsentForPrograms({ redirect_uri: "cursor://x", scope: "read" })).toEqual({
    redirect_uri: "cursor://x",
    scope: "read",
    prompt: "consent",
  });
});

/** An adapter of better-auth that records what it would store. */
function recordingAdapter() {
  const stored: unknown[] = [];
  const writes = {
    create: async (row: { data: unknown }) => void stored.push(row),
    update: async (row: { update: unknown }) => void stored.push(row),
    findOne: async () => "found",
  };
  const adapter = { ...writes, transaction: (work: (adapter: unknown) => unknown) => work(writes) };
  const plugin = storePrivateUseRedirects();
  const initialized = plugin.init?.({ adapter } as never) as { context: { adapter: DBAdapter } };
  return { stored, id: plugin.id, adapter: initialized.context.adapter };
}

test("a redirect URI is passed to better-auth in a form that it accepts, and stored as it is", async () => {
  const uris = ["cursor://callback", "https://example.com/x"];
  const encoded = uris.map(encodeRedirectUri);
  expect(encoded).toEqual([expect.stringMatching(/^private-use\.redirect:\/[\w-]+$/), uris[1]]);
  const { adapter, stored, id } = recordingAdapter();
  expect(id).toBe("private-use-redirects");
  const data = { redirectUris: [...encoded, 7], name: "Editor" };
  await adapter.create({ model: "oauthClient", data });
  await adapter.update({ model: "oauthClient", where: [], update: data });
  await adapter.transaction((transaction) => transaction.create({ model: "oauthClient", data }));
  const decoded = { redirectUris: [...uris, 7], name: "Editor" };
  expect(stored).toEqual([
    { model: "oauthClient", data: decoded },
    { model: "oauthClient", where: [], update: decoded },
    { model: "oauthClient", data: decoded },
  ]);
  expect(await adapter.findOne({ model: "oauthClient", where: [] })).toBe("found");
});

test("rows of other models, and clients without redirect URIs, are stored unchanged", async () => {
  const { adapter, stored } = recordingAdapter();
  const data = { redirectUris: [encodeRedirectUri("cursor://callback")] };
  await adapter.create({ model: "session", data });
  await adapter.create({ model: "oauthClient", data: { redirectUris: "text" } });
  expect(stored).toEqual([
    { model: "session", data },
    { model: "oauthClient", data: { redirectUris: "text" } },
  ]);
});
