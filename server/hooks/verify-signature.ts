import type { IncomingHttpHeaders } from "node:http";
import { verify } from "@octokit/webhooks-methods";
import type { PushSource } from "../../domain/push-records/push-delivery.entity.ts";
import { isSameSecret } from "../../domain/push-to-deploy/push-endpoint-rules.ts";

/** How a git host says who it is and signs its deliveries. */
export interface DeliveryHeaders {
  source: Exclude<PushSource, "poll">;
  event: string;
  /** `null` if the host sends none. */
  externalId: string | null;
  /** An HMAC of the body in the form `sha256=` with hex digits, or the secret itself; `null` if it is missing. */
  signature: string | null;
  isTokenOnly: boolean;
}

/** Gitea and Forgejo send the headers of GitHub too, so they come first. */
export function readDeliveryHeaders(headers: IncomingHttpHeaders): DeliveryHeaders | null {
  const get = (name: string): string | null => {
    const value = headers[name];
    return typeof value === "string" && value !== "" ? value : null;
  };
  const gitea = get("x-gitea-event") ?? get("x-forgejo-event");
  if (gitea !== null) {
    const digest = get("x-gitea-signature") ?? get("x-forgejo-signature");
    const signature = digest === null ? null : `sha256=${digest}`;
    const externalId = get("x-gitea-delivery") ?? get("x-forgejo-delivery");
    return { source: "gitea", event: gitea, externalId, signature, isTokenOnly: false };
  }
  const github = get("x-github-event");
  if (github !== null) {
    const [externalId, signature] = [get("x-github-delivery"), get("x-hub-signature-256")];
    return { source: "github", event: github, externalId, signature, isTokenOnly: false };
  }
  const gitlab = get("x-gitlab-event");
  if (gitlab !== null) {
    // Unlike the other one, this id stays the same when the host repeats a delivery.
    const externalId = get("idempotency-key") ?? get("x-gitlab-event-uuid");
    return { source: "gitlab", event: gitlab, externalId, signature: get("x-gitlab-token"), isTokenOnly: true };
  }
  const bitbucket = get("x-event-key");
  if (bitbucket !== null) {
    const [externalId, signature] = [get("x-request-uuid"), get("x-hub-signature")];
    return { source: "bitbucket", event: bitbucket, externalId, signature, isTokenOnly: false };
  }
  return null;
}

/** Whether the holder of the secret sent this body. */
export async function isSigned(
  { signature, isTokenOnly }: DeliveryHeaders,
  body: Buffer,
  secret: string,
): Promise<boolean> {
  if (signature === null) return false;
  if (isTokenOnly) return isSameSecret(signature, secret);
  if (body.length === 0 || !/^sha256=[0-9a-f]{64}$/.test(signature)) return false;
  return verify(secret, body.toString(), signature);
}
