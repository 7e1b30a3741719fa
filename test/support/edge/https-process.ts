// Runs in its own network and mount namespace, which `https-process.sh` prepares: a public address on the loopback
// interface, two host names for it, and a writable /etc/ssl. Publishes an app that fetches both names by HTTPS, the
// first with a certificate that the host trusts, and prints the app's response.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { createSecureContext } from "node:tls";
import { createCertificate } from "../identity/certificate.ts";
import { openTestPlatform } from "./test-platform.ts";

const trusted = createCertificate("trusted.test");
const unknown = createCertificate("unknown.test");
writeFileSync("/etc/ssl/cert.pem", trusted.cert);
const server = createServer(
  {
    SNICallback: (name, callback) => callback(null, createSecureContext(name === "trusted.test" ? trusted : unknown)),
  },
  (_request, response) => response.end("fetched"),
);
await once(server.listen(443, "93.184.216.34"), "listening");
const t = await openTestPlatform();
await t.publish(
  "shop",
  `export default { async fetch() {
  const read = (url) => fetch(url).then((response) => response.text(), () => "failed");
  return Response.json([await read("https://trusted.test/"), await read("https://unknown.test/")]);
} }`,
);
process.stdout.write((await t.request("shop")).text);
await t[Symbol.asyncDispose]();
server.close();
server.closeAllConnections();
