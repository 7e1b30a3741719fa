import { AgentHostError, InstructionsConflict } from "../../../../domain/ports/agent-host.ts";
import { sha256Hex } from "../../../../domain/shared/sha256.ts";
import type { GatewayError } from "./gateway-frames.ts";

const REQUEST_ID = /^[\w-]{1,64}$/;
const CODE = /^[A-Z][A-Z_]{0,49}$/;
const SHA_256 = /^[0-9a-f]{64}$/;

/**
 * Translates an error response of a gateway. Of its text, only codes and ids are repeated.
 *
 * @param deviceId - identifies this service to the gateway
 */
export function toAgentHostError({ code, message, details }: GatewayError, deviceId: string): AgentHostError {
  const detail = typeof details["code"] === "string" ? details["code"] : "";
  if (details["type"] === "agent_file_conflict") return new InstructionsConflict(readHash(details["currentHash"]));
  if (detail === "PAIRING_REQUIRED" || code === "NOT_PAIRED") return pairingRequired(details["requestId"], deviceId);
  if (detail === "MISSING_SCOPE" || code === "FORBIDDEN")
    return new AgentHostError("unauthorized", "The gateway does not permit this operation with the given token.");
  if (detail.includes("RATE_LIMITED"))
    return new AgentHostError(
      "unauthorized",
      "The gateway has received too many wrong tokens, and rejects all for a while.",
    );
  if (/^(AUTH|DEVICE_AUTH)_/.test(detail) || code === "UNAUTHORIZED")
    return new AgentHostError(
      "unauthorized",
      "The gateway does not accept the token. Set its token with PATCH /v1/servers/{id}.",
    );
  if (detail.startsWith("PROTOCOL_") || /protocol mismatch/i.test(message))
    return new AgentHostError("unsupported", "The gateway does not speak version 4 of its protocol. Update OpenClaw.");
  if (code === "UNAVAILABLE")
    return new AgentHostError("unreachable", "The gateway is starting or busy. Try again later.");
  if (/unknown method|unexpected property/i.test(message))
    return new AgentHostError("unsupported", "The version of the gateway does not support this. Update OpenClaw.");
  if (/\bnot found\b|\bunknown agent\b/i.test(message))
    return new AgentHostError("not_found", "The gateway does not know what was requested.");
  const shown = CODE.test(code) ? ` (${code})` : "";
  return new AgentHostError("invalid_response", `The gateway reports an error${shown}.`);
}

/** Without a file there is no hash. It counts as an empty file. */
function readHash(value: unknown): string {
  return typeof value === "string" && SHA_256.test(value) ? value : sha256Hex("");
}

function pairingRequired(requestId: unknown, deviceId: string): AgentHostError {
  const command =
    typeof requestId === "string" && REQUEST_ID.test(requestId)
      ? `openclaw devices approve ${requestId}`
      : "openclaw devices list";
  return new AgentHostError(
    "unauthorized",
    `The operator of the gateway has to approve this service, as the device ${deviceId.slice(0, 12)}…, with: ${command}`,
  );
}
