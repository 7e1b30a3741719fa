import { UnhealthyScript, UnsupportedScript } from "../../../../domain/ports/edge-platform.ts";
import type { UploadBinding } from "./upload-form.ts";

/** The products of which apps declare bindings that the platform does not have, by the type of the binding. */
const UNSUPPORTED_PRODUCTS: Readonly<Record<string, string>> = {
  ai: "Workers AI",
  ai_search: "AI Search",
  browser: "Browser Rendering",
  browser_rendering: "Browser Rendering",
  dispatch_namespace: "Workers for Platforms",
  hyperdrive: "Hyperdrive",
  images: "Images",
  media: "Media Transformations",
  mtls_certificate: "mTLS certificates",
  pipelines: "Pipelines",
  queue: "Queues",
  secrets_store_secret: "Secrets Store",
  send_email: "Email",
  service: "services (other Workers)",
  stream: "Stream",
  vectorize: "Vectorize",
  vpc_service: "VPC services",
  worker_loader: "dynamic Workers",
};

const SUPPORTED =
  "variables, D1, KV, R2, Durable Objects, Workflows, static assets, rate limits, Analytics Engine and version metadata";

/** The most bindings that an error lists. */
const MAX_LISTED = 10;

/**
 * Checks that the platform has the bindings that a script declares.
 *
 * @throws {UnsupportedScript} with all bindings of other types, and what is supported
 */
export function requireSupported(bindings: readonly UploadBinding[], types: ReadonlySet<string>): void {
  const unsupported = bindings.filter(({ type }) => !types.has(type));
  // The bundler writes `inherit` for storage without an id, so the type of the storage is lost.
  const withoutId = unsupported.find(({ type }) => type === "inherit");
  if (withoutId)
    throw new UnhealthyScript(`The binding "${withoutId.name}" has no id. Set any id in the wrangler configuration.`);
  if (unsupported.length === 0) return;
  const named = unsupported.slice(0, MAX_LISTED).map(({ name, type }) => `${productOf(type)} (binding "${name}")`);
  throw new UnsupportedScript(`The platform does not have ${named.join(", ")}. It has ${SUPPORTED}.`);
}

function productOf(type: string): string {
  return Object.hasOwn(UNSUPPORTED_PRODUCTS, type) ? `${UNSUPPORTED_PRODUCTS[type]}` : `the type "${type}"`;
}
