import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { createHarness } from "../support/service/harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** Text that would add a log line and clear the reader's terminal if it were logged without escaping. */
const FORGED = `\r\n\u001b[2J{"level":60,"msg":"forged"}\u2028\u0000`;

verifies(
  hazard(67),
  "input of a caller never adds a log line: each event is one line of JSON without control characters",
  async () => {
    await using harness = await createHarness();
    const tenant = await harness.tenant();
    const { publicUrl, parts } = harness.service;
    const gateway = new GatewayClient(publicUrl, tenant.personal_access_token);
    const calls = async () => {
      await gateway.call(`tools/list${FORGED}`);
      await gateway.call("tools/call", { name: FORGED, arguments: { [FORGED]: FORGED } });
      await gateway.tool("service_docs_search", { query: FORGED, app: FORGED });
      await gateway.tool("service_list_apps", { cursor: FORGED, [FORGED]: 1 });
      await gateway.send(`{"jsonrpc":"2.0","id":${JSON.stringify(FORGED)},"method":"ping"${FORGED}`);
      await tenant.rest.deploy({ repo: `acme/site${FORGED}`, branch: FORGED, [FORGED]: FORGED });
      await tenant.rest.deploy({ repo: "acme/site", branch: `main${FORGED}`, customization: FORGED });
      await tenant.rest.get(`/v1/apps/${encodeURIComponent(FORGED)}?${encodeURIComponent(FORGED)}`);
      await tenant.rest.get("/v1/apps", { "user-agent": "a\u00a0\u009b2J", "x-request-id": `x" {"level":60}` });
    };
    await calls();
    // HTTP clients do not send a line break in a header.
    const { hostname, port } = new URL(publicUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.end(`POST /mcp HTTP/1.1\r\nHost: ${hostname}\r\nX-Request-Id: a\n{"level":60,"msg":"forged"}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    // The same calls again as internal errors, which are logged with their details.
    await parts.orm.em.fork().execute("alter table apps rename to apps_out_of_reach");
    await calls();

    const lines = harness.logged().split("\n");
    expect(lines.pop()).toBe("");
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.filter(({ msg }) => msg === "a tool failed").length).toBeGreaterThan(0);
    expect(events.filter(({ level, msg }) => level === 60 || msg === "forged")).toEqual([]);
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(lines.filter((line) => /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(line))).toEqual([]);
  },
);
