import ipaddr from "ipaddr.js";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import type { roleVariables } from "./role-settings.ts";

/** A host name (RFC 1123). With a number as its last label it would be an address, such as `10.5` and `0x0a000005`. */
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?!(?:\d+|0x[0-9a-f]*)$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const PRIVATE_RANGES = new Set(["private", "uniqueLocal", "carrierGradeNat", "loopback"]);

export const edgeClusterVariables = {
  EDGE_CLUSTER: z.enum(["on", "off"], { error: "must be one of: on, off" }).default("off"),
  EDGE_CLUSTER_HOST: z
    .string()
    .refine((host) => (isAddress(host) ? PRIVATE_RANGES.has(ipaddr.process(host).range()) : HOST_NAME.test(host)), {
      error: "must be a private address or a host name of this machine, without a port, such as 10.0.0.5",
    })
    .optional(),
} as const;

export interface EdgeClusterSettings {
  /** Several edges can run, each of which serves every app. `null` if there is one edge. */
  edgeCluster: {
    /** The address at which the other edges reach this one; `null` if this process is not an edge. */
    host: string | null;
  } | null;
}

type EdgeClusterVariables = z.infer<z.ZodObject<typeof edgeClusterVariables>> &
  Pick<z.infer<z.ZodObject<typeof roleVariables>>, "ROLES" | "EDGE_INTERNAL_URL"> &
  Record<"EDGE_PLATFORM", string>;

/** @throws {ConfigError} that names what a cluster of edges requires */
export function readEdgeClusterSettings(values: EdgeClusterVariables): EdgeClusterSettings {
  const { EDGE_CLUSTER_HOST: host, EDGE_INTERNAL_URL: edges = [] } = values;
  const isEdge = values.ROLES.has("edge");
  if (values.EDGE_CLUSTER === "off") {
    if (edges.length > 1)
      throw new ConfigError("EDGE_INTERNAL_URL can name several edges only with EDGE_CLUSTER=on in all processes.");
    if (host !== undefined) throw new ConfigError("EDGE_CLUSTER_HOST needs EDGE_CLUSTER=on.");
    return { edgeCluster: null };
  }
  if (values.EDGE_PLATFORM === "cloudflare")
    throw new ConfigError("EDGE_CLUSTER=on cannot be set with EDGE_PLATFORM=cloudflare: Cloudflare runs the apps.");
  // An API or a worker in the process of an edge would call this edge only, and the others would miss what concerns each of them.
  if (isEdge && values.ROLES.size > 1)
    throw new ConfigError("EDGE_CLUSTER=on needs ROLES=edge for an edge: APIs and workers are processes of their own.");
  if (isEdge && host === undefined)
    throw new ConfigError(
      "EDGE_CLUSTER_HOST is required with EDGE_CLUSTER=on: the private address of this machine, at which the other edges reach it, such as 10.0.0.5",
    );
  if (!isEdge && host !== undefined)
    throw new ConfigError("EDGE_CLUSTER_HOST needs the role edge: the other edges reach an edge there.");
  return { edgeCluster: { host: host ?? null } };
}

function isAddress(host: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(host) || ipaddr.IPv6.isValid(host);
}
