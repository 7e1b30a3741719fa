import type { FastifyInstance } from "fastify";

/** A dependency of the service. `check` rejects while it is unavailable. */
export interface ReadinessCheck {
  name: string;
  check(): Promise<void>;
}

/** What operators should know about a service that is ready. */
export interface ReadinessDetails {
  /** The resources of sandboxes that the kernel limits, and why it does not limit others. */
  sandbox_limits: {
    cgroups: string | null;
    controllers: readonly string[];
    problem: string | null;
    /** Whether the kernel limits the disk space of builds. */
    disk: boolean;
    disk_problem: string | null;
  };
}

/** The time in which a dependency must respond, in milliseconds. */
const TIMEOUT_MS = 2000;

/** `GET /healthz`: the process runs. `GET /readyz`: every dependency responds. Neither requires a token. */
export function healthPlugin(checks: readonly ReadinessCheck[], details: ReadinessDetails) {
  return async (scope: FastifyInstance): Promise<void> => {
    scope.get("/healthz", async () => ({ status: "ok" }));
    scope.get("/readyz", async (_request, reply) => {
      const results = await Promise.all(checks.map((check) => isReady(check)));
      const unavailable = checks.filter((_check, index) => !results[index]).map(({ name }) => name);
      if (unavailable.length === 0) return { status: "ready", details };
      return reply.code(503).send({ error: `Not ready: ${unavailable.join(", ")}` });
    });
  };
}

async function isReady({ name, check }: ReadinessCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not respond`)), TIMEOUT_MS);
  });
  try {
    await Promise.race([check(), timeout]);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
