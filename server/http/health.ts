import type { FastifyInstance } from "fastify";

/** Something the service cannot work without. `check` rejects while it is missing. */
export interface ReadinessCheck {
  name: string;
  check(): Promise<void>;
}

const PATIENCE_MS = 2000;

/** `GET /healthz`: the process lives. `GET /readyz`: everything it needs answers. Neither needs a token. */
export function healthPlugin(checks: readonly ReadinessCheck[]) {
  return async (scope: FastifyInstance): Promise<void> => {
    scope.get("/healthz", async () => ({ status: "ok" }));
    scope.get("/readyz", async (_request, reply) => {
      const missing = (await Promise.all(checks.map((check) => isMissing(check)))).flat();
      if (missing.length === 0) return { status: "ready" };
      return reply.code(503).send({ error: `Not ready: ${missing.join(", ")}` });
    });
  };
}

async function isMissing({ name, check }: ReadinessCheck): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not answer`)), PATIENCE_MS);
  });
  try {
    await Promise.race([check(), late]);
    return [];
  } catch {
    return [name];
  } finally {
    clearTimeout(timer);
  }
}
