import type { Explanation } from "./explanation.ts";

const ALWAYS_SET = "Equivalent: Node's server always sets this property of a request.";
const ENDS_ANYWAY = "Equivalent: an error or the end of one socket also reaches the other through the other listeners.";
const NAME = "The name of an error, which only the log shows.";
const NO_TOKEN = "Equivalent but slower: without a token, the result is the same.";

const SHARED_START = "Equivalent but slower: the lock of the database prevents a second process.";
const LOCK = "Not caught: the lock matters only for another start or stop at the same moment.";
const RACE = "Not caught: the app would have to change while the lock is awaited.";
const TIMER = "Not caught: the timer would only run longer.";

export const EMBEDDED_PLATFORM: Record<string, Explanation[]> = {
  "server/platforms/embedded/proxy/client-info.ts": [
    {
      original: 'String(forwarded).split(",").at(-1)?.trim',
      reason: "Equivalent: `split` returns at least one value.",
    },
  ],
  "server/platforms/embedded/proxy/edge-error.ts": [{ original: '"EdgeError"', reason: NAME }],
  "server/platforms/embedded/proxy/edge-proxy.ts": [
    { original: '"localhost"', reason: "Equivalent: `listen` sets the domain before the first request." },
    {
      original: "request.headers.upgrade?.toLowerCase",
      reason: "Equivalent: Node calls the function only for a request with this header.",
    },
    { original: "!this.#server.listening", reason: "Equivalent: a second close of the server ends at once, too." },
    { original: "() => socket.destroy()", reason: "Equivalent: Node destroys a socket after an error." },
    { original: '"close"', reason: "Not caught: closed sockets would stay in memory." },
    { original: "() => this.#upgraded.delete(socket)", reason: "Not caught: closed sockets would stay in memory." },
    { original: "request.url?.startsWith", reason: ALWAYS_SET },
    {
      original: "this.#options.onRequest?.(app.appId)",
      reason: "`edge-proxy.test.ts` detects it; the area leaves it out, as it starts processes.",
    },
    { original: "token === null", reason: NO_TOKEN },
    { original: '"0"', reason: "Equivalent: an empty text is the number 0, too." },
    { original: '""', reason: "Equivalent: a request without a host was rejected before." },
    { original: "host?.toLowerCase", reason: "Equivalent: a request without a host was rejected before." },
    { original: "[]", reason: "Equivalent: only the second and the third value are read." },
    { original: "index < rawHeaders.length", reason: "Equivalent: there is no header after the last one." },
    { original: "rawHeaders[index]?.toLowerCase", reason: "Equivalent: the index is within the list." },
  ],
  "server/platforms/embedded/proxy/forward-request.ts": [
    { original: "!hasBody(request)", reason: "Equivalent: an empty body is forwarded as a stream." },
    { original: '"127.0.0.1"', reason: "Equivalent where `localhost` is 127.0.0.1." },
    { original: '"GET"', reason: ALWAYS_SET },
    { original: '"/"', reason: ALWAYS_SET },
    { original: '""', reason: "Equivalent: Node's parser always sets the reason phrase." },
    {
      original: "{ agent: reusedConnections }",
      reason: "Not caught: Node's global agent reuses connections, too, with other limits.",
    },
    { original: "index + 1 < headers.length", reason: "Equivalent: the list has an even number of values." },
    { original: "reply.destroy();", reason: "Equivalent: the end of the response ends the request to the app, too." },
    { original: '"error"', reason: ENDS_ANYWAY },
    { original: '"close"', reason: ENDS_ANYWAY },
    { original: "() => other.destroy()", reason: ENDS_ANYWAY },
    { original: "() => one.destroy()", reason: ENDS_ANYWAY },
  ],
  "server/platforms/embedded/proxy/half-open-socket.ts": [
    {
      original: "super._writev?.(chunks, ignoreDisconnect(callback))",
      reason: "Equivalent: every socket of Node has this method.",
    },
    { original: '"127.0.0.1"', reason: "Equivalent: the host is always given." },
    { original: 'host ?? "127.0.0.1"', reason: "Equivalent: the host is always 127.0.0.1." },
    { original: '""', reason: "Equivalent: neither text is one of the codes." },
  ],
  "server/platforms/embedded/proxy/open-requests.ts": [
    { original: "ofClient > 0", reason: "Equivalent but larger: a count of 0 is kept." },
    {
      original: "app.byNetwork.delete(network);",
      reason: "Equivalent but larger: a count is kept until the app has none.",
    },
  ],
  "server/platforms/embedded/proxy/proxy-headers.ts": [
    { original: "index + 1 < raw.length", reason: "Equivalent: the list has an even number of values." },
    { original: 'value === "keep-alive"', reason: "Equivalent but slower: this header is not forwarded anyway." },
    { original: '"keep-alive"', reason: "Equivalent but slower: this header is not forwarded anyway." },
    { original: '"host"', reason: "Equivalent: no other spelling of this name has a character that is folded." },
    { original: "[]", reason: "Equivalent: no header has this name." },
  ],
  "server/platforms/embedded/proxy/shared-cookie.ts": [
    { original: '""', reason: "Equivalent: neither text is the domain of all apps or a parent of it." },
    { original: 'domain !== ""', reason: "Equivalent: the domain of all apps does not end with a dot." },
  ],
  "server/platforms/embedded/proxy/verify-app-token.ts": [
    { original: "Date.now() < Date.parse(previous.until)", reason: "Differs for one millisecond." },
    { original: '""', reason: "Equivalent: neither text contains an app token." },
  ],
  "server/platforms/embedded/supervisor/launch-app.ts": [
    { original: "close();", reason: "Not caught: the log of an app that did not start would stay in memory." },
  ],
  "server/platforms/embedded/supervisor/unavailable-app.ts": [
    { original: '"AppUnavailable"', reason: "The name of an error, for the log." },
    { original: '"AppRestricted"', reason: "The name of an error, for the log." },
  ],
  "server/platforms/embedded/supervisor/running-app.ts": [
    {
      original: "this.isIdle",
      replacement: "false",
      reason: "Not caught: an app without requests would only stop later.",
    },
    { original: "{ signal: finished.signal }", reason: TIMER },
    { original: "finished.abort();", reason: TIMER },
  ],
  "server/platforms/embedded/supervisor/supervisor.ts": [
    {
      original: '{ this.#options.log.warn({ slug, appId, err }, "app process could not be removed"); }',
      reason: "A log line.",
    },
    {
      original: 'this.#options.log.warn({ slug, appId, err }, "app process could not be removed");',
      reason: "A log line.",
    },
    { original: "!start", reason: SHARED_START },
    { original: "this.#starts.set(slug, start);", reason: SHARED_START },
    { original: "signal.throwIfAborted();", reason: "Equivalent but later: a start checks the signal, too." },
    { original: "[live.databaseId]", reason: LOCK },
    { original: "[databaseId]", reason: LOCK },
    { original: "(await store.live(slug))?.appId !== appId", reason: RACE },
    { original: "(await store.live(slug))?.appId", reason: RACE },
    { original: "this.#running.get(slug) !== app || !app.isIdle", reason: RACE },
    { original: "this.#running.get(slug) !== app", reason: RACE },
    { original: "[]", reason: "Equivalent: no app has this database." },
    { original: "this.#backoff.reset(slug);", reason: "Equivalent: the publication of the next app resets it, too." },
    { original: "this.#options.onStart?.(slug)", reason: "Equivalent: the service always sets the listener." },
  ],
};
