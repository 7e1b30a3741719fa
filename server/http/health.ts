import type { FastifyInstance } from "fastify";

/** A dependency of the service. `check` rejects while it is unavailable. */
export interface ReadinessCheck {
  name: string;
  check(): Promise<void>;
}

/** The dependencies of a process, by what their loss means for it. */
export interface ReadinessChecks {
  /** Without one of these, the process is not ready. */
  required: readonly ReadinessCheck[];
  /** Without one of these, the process is ready, and serves what does not need it. */
  optional: readonly ReadinessCheck[];
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

export interface HealthOptions {
  checks: ReadinessChecks;
  details: ReadinessDetails;
  /** Aborted when the process is about to stop: load balancers should send requests to other processes. */
  draining: AbortSignal;
}

/** The time in which a dependency must respond, in milliseconds. */
const TIMEOUT_MS = 2000;
/** How long the result of a check is used again, so that requests without a token cause few requests to other services. */
const REMEMBERED_MS = 500;
const DRAINING = "Not ready: the process is about to stop.";

/** `GET /healthz`: the process runs. `GET /readyz`: every dependency that it requires responds. Neither requires a token. */
export function healthPlugin({ checks, details, draining }: HealthOptions) {
  const findUnavailable = remember(async () => ({
    required: await namesOfUnavailable(checks.required),
    optional: await namesOfUnavailable(checks.optional),
  }));
  return async (scope: FastifyInstance): Promise<void> => {
    scope.get("/healthz", async () => ({ status: "ok" }));
    scope.get("/readyz", async (_request, reply) => {
      if (draining.aborted) return reply.code(503).send({ error: DRAINING });
      const { required, optional } = await findUnavailable();
      if (required.length === 0) return { status: "ready", details: { ...details, unavailable: optional } };
      return reply.code(503).send({ error: `Not ready: ${[...required, ...optional].join(", ")}` });
    });
  };
}

/** Returns a function that runs `work` at most once at the same time, and returns its last result for a moment. */
function remember<T>(work: () => Promise<T>): () => Promise<T> {
  let last: { result: Promise<T>; until: number } | null = null;
  return () => {
    if (last !== null && performance.now() < last.until) return last.result;
    const started = { result: work(), until: Number.POSITIVE_INFINITY };
    last = started;
    void started.result.finally(() => (started.until = performance.now() + REMEMBERED_MS));
    return started.result;
  };
}

async function namesOfUnavailable(checks: readonly ReadinessCheck[]): Promise<string[]> {
  const results = await Promise.all(checks.map((check) => isReady(check)));
  return checks.filter((_check, index) => !results[index]).map(({ name }) => name);
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
