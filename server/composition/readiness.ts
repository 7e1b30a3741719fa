import type { Config } from "../config.ts";
import type { ReadinessCheck, ReadinessChecks } from "../http/health.ts";
import type { Foundation } from "./foundation.ts";

/** A key that no object has: a check reads it, because a read needs the fewest rights. */
const CHECKED = { bucket: "readiness", key: "check" };

/**
 * Chooses what a process needs, by its roles. Only the APIs are behind a load balancer, so a process with the role `api` is ready when it can
 * respond: without the edge, the object store or Redis, most operations work, and all APIs would lose a shared one at once.
 */
export function chooseReadinessChecks({
  config,
  database,
  queue,
  edge,
  objects,
  shared,
}: Pick<Foundation, "config" | "database" | "queue" | "edge" | "objects" | "shared">): ReadinessChecks {
  const checkObjects = async (): Promise<void> => void (await objects.get(CHECKED.bucket, CHECKED.key));
  const store = config.s3 === null ? [] : [{ name: "object store", check: checkObjects }];
  const redis = shared.redisReadiness === null ? [] : [shared.redisReadiness];
  const databases = [database.readiness, queue.readiness];
  return splitByRole(config, { databases, store, redis, edge: [edge.readiness] });
}

type CheckGroups = Record<"databases" | "store" | "redis" | "edge", readonly ReadinessCheck[]>;

function splitByRole({ roles, cloudflare }: Config, groups: CheckGroups): ReadinessChecks {
  const { databases, store, redis, edge } = groups;
  if (roles.has("api")) {
    const hasOwnProxy = roles.has("edge") && cloudflare === null;
    return {
      required: [...databases, ...(hasOwnProxy ? edge : [])],
      optional: [...store, ...redis, ...(hasOwnProxy ? [] : edge)],
    };
  }
  if (roles.has("worker")) return { required: [...databases, ...store, ...edge], optional: redis };
  return { required: edge, optional: [...databases, ...store, ...redis] };
}
