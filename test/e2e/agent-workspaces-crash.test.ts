import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** `npm run test:crash` kills more often. */
const KILLS = Number(process.env["TEST_KILLS"] ?? 1);
const FILES = 20;

/** Writes a number to all files, one of which is large. */
const write = (count: number) => `for (let n = 0; n < ${FILES}; n++)
  Deno.writeTextFileSync("/workspace/" + n, "${count} " + " ".repeat(n === 0 ? 3_000_000 : 0));`;
/** Prints the different numbers in the files. */
const READ = `const counts = [...Deno.readDirSync("/workspace")].map(({ name }) => Number(Deno.readTextFileSync("/workspace/" + name)));
  console.log(counts.length, ...new Set(counts));`;

interface TestAgent {
  id: string;
  token: string;
}

async function givenAgent({ rest }: ServiceProcess): Promise<TestAgent> {
  const { agent } = (await rest.post("/v1/servers", { name: "Server" })).body as {
    agent: { agent_id: string; gateway_token: string };
  };
  return { id: agent.agent_id, token: agent.gateway_token };
}

async function execute({ publicUrl }: ServiceProcess, { token }: TestAgent, code: string) {
  return (await new GatewayClient(publicUrl, token).tool("service_execute", { code })).structuredContent;
}

/** Writes 1, 2, 3, ... until the service ends. Returns the last number of a program whose result was received. */
async function writeUntilKilled(
  service: ServiceProcess,
  agent: TestAgent,
  from: number,
  onWritten: () => void,
): Promise<number> {
  for (let count = from; ; count++) {
    const result = await execute(service, agent, write(count)).catch(() => null);
    if (result?.["exit_code"] !== 0) return count - 1;
    onWritten();
  }
}

verifies(
  [hazard(41), hazard(46)],
  "after a kill of the service, a workspace has the files of the last program that ended, all of them or none",
  async () => {
    await using installation = await createInstallation();
    const start = () => installation.start({ LOG_LEVEL: "silent" });
    let service = await start();
    const agent = await givenAgent(service);
    let acknowledged = 0;
    for (let turn = 0; turn < KILLS; turn++) {
      const written = Promise.withResolvers<void>();
      const writing = writeUntilKilled(service, agent, acknowledged + 1, written.resolve);
      await Promise.race([written.promise, writing]);
      await delay(Math.random() * 1000);
      await service.end("SIGKILL");
      acknowledged = await writing;
      service = await start();
      const shown = String((await execute(service, agent, READ))["stdout"]);
      expect([`${FILES} ${acknowledged}\n`, `${FILES} ${acknowledged + 1}\n`]).toContain(shown);
      acknowledged = Number(shown.split(" ")[1]);
    }
    expect(acknowledged).toBeGreaterThan(0);

    // A program that is running when the service is killed leaves nothing.
    const started = `${write(-1)} await service.tools.service_set_agent_instructions({ content: "started" }); for (;;);`;
    const running = execute(service, agent, started).catch(() => null);
    const instructions = async () => (await service.rest.get(`/v1/agents/${agent.id}/instructions`)).body["content"];
    await expect.poll(instructions).toBe("started");
    await service.end("SIGKILL");
    expect(await running).toBeNull();
    service = await start();
    expect((await execute(service, agent, READ))["stdout"]).toBe(`${FILES} ${acknowledged}\n`);
    expect(await service.end("SIGTERM")).toBe(0);
  },
);
