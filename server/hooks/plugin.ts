import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  openEndpoint,
  type OpenEndpoint,
  receiveDelivery,
  type ReceiveDeliveryDeps,
} from "../../domain/push-to-deploy/receive-delivery.ts";
import { isRecord, parseJson } from "../../domain/shared/json.ts";
import { isTooComplexJson, TOO_COMPLEX } from "../../domain/shared/json-limits.ts";
import { sha256Hex } from "../../domain/shared/sha256.ts";
import { formatSize } from "../rest/request-body.ts";
import { eventName, readPush } from "./read-push.ts";
import { type DeliveryHeaders, isSigned, readDeliveryHeaders } from "./verify-signature.ts";

/** The deliveries of a push with thousands of commits are larger; git hosts leave out further commits long before. */
const BODY_LIMIT = 5 * 1024 * 1024;

/** The same for an unknown endpoint and a wrong signature: it says nothing about which endpoints exist. */
const NOT_ACCEPTED =
  "No webhook accepts this delivery. Check the URL and the secret, and send push events of GitHub, GitLab, Gitea, Forgejo or Bitbucket.";
const RESTORED_COPY = "This installation was restored from a backup and deploys nothing yet.";
const UNREADABLE = "The body must be the JSON object of the event.";

type Body = { body: Buffer; isForm: boolean };

/** `POST /hooks/git/{id}`: git hosts report pushes. It requires no token, but a body that is signed with the endpoint's secret. */
export function hooksPlugin({ service }: { service: ReceiveDeliveryDeps & { isRestoredCopy: boolean } }) {
  return async (scope: FastifyInstance): Promise<void> => {
    scope.removeAllContentTypeParsers();
    // The signature is of the bytes.
    const keep = (isForm: boolean) => (_request: FastifyRequest, body: Buffer) => Promise.resolve({ body, isForm });
    scope.addContentTypeParser("application/json", { parseAs: "buffer", bodyLimit: BODY_LIMIT }, keep(false));
    scope.addContentTypeParser(FORM, { parseAs: "buffer", bodyLimit: BODY_LIMIT }, keep(true));
    scope.setErrorHandler((error: Error & { code?: string }, request, reply) => sendBodyError(error, request, reply));
    const endpoints = new WeakMap<FastifyRequest, OpenEndpoint>();
    scope.post<{ Params: { id: string }; Body: Body | undefined }>(
      "/hooks/git/:id",
      {
        bodyLimit: BODY_LIMIT,
        // Before the body is read: that of a stranger is not.
        onRequest: async (request, reply) => {
          // The git host sends it again, to the installation that deploys.
          if (service.isRestoredCopy) return send(reply, 503, RESTORED_COPY);
          const endpoint = await openEndpoint(service, request.params.id);
          if (endpoint === null || readDeliveryHeaders(request.headers) === null) return send(reply, 404, NOT_ACCEPTED);
          endpoints.set(request, endpoint);
          return undefined;
        },
      },
      async (request, reply) => {
        const [endpoint, headers] = [endpoints.get(request), readDeliveryHeaders(request.headers)];
        if (endpoint === undefined || headers === null) return send(reply, 404, NOT_ACCEPTED);
        return answer(service, endpoint, headers, request.body, reply);
      },
    );
  };
}

const FORM = "application/x-www-form-urlencoded";

async function answer(
  service: ReceiveDeliveryDeps,
  endpoint: OpenEndpoint,
  headers: DeliveryHeaders,
  received: Body | undefined,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { body = Buffer.alloc(0), isForm = false } = received ?? {};
  if (!(await isSigned(headers, body, endpoint.secret))) return send(reply, 404, NOT_ACCEPTED);
  const json = isForm ? (new URLSearchParams(body.toString()).get("payload") ?? "") : body.toString();
  if (isTooComplexJson(json)) return send(reply, 400, `The body ${TOO_COMPLEX}.`);
  const payload = parseJson(json);
  if (!isRecord(payload)) return send(reply, 400, UNREADABLE);
  const bodyHash = sha256Hex(body);
  const delivery = await receiveDelivery(service, endpoint, {
    source: headers.source,
    event: eventName(headers),
    externalId: headers.externalId ?? bodyHash,
    bodyHash: headers.isTokenOnly ? null : bodyHash,
    push: readPush(headers, payload),
  });
  return delivery === null ? send(reply, 404, NOT_ACCEPTED) : reply.code(202).send(delivery);
}

/** Any other error is answered as in the rest of the service. */
function sendBodyError(error: Error & { code?: string }, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return send(
        reply,
        413,
        `The delivery exceeds ${formatSize(BODY_LIMIT)}. Push fewer commits at once, or redeploy the app.`,
      );
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return send(reply, 415, "Choose the content type application/json for the webhook.");
    default:
      throw error;
  }
}

function send(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).send({ error });
}
