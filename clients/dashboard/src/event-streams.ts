import {
  type BuildLogEvent,
  type BuildLogRequest,
  followBuildLog,
  followRuntimeLog,
  type RuntimeLog,
  type RuntimeLogRequest,
} from "../../sdk/src/log-streams.ts";
import { followOrganization, type OrganizationEvent } from "../../sdk/src/events.ts";
import { ServiceError } from "../../sdk/src/service-error.ts";
import { Transport } from "../../sdk/src/transport.ts";
import { clearAccessToken, getAccessToken, RestError, SignedOutError } from "./api.ts";

export interface FollowOptions {
  /** Closes the stream. */
  signal: AbortSignal;
  /** Called when the service can or cannot be reached. A broken connection is opened again, with back-off. */
  onConnection: (isConnected: boolean) => void;
}

/**
 * Yields the lines of a build log from its start, and then its end.
 *
 * @throws {RestError}
 * @throws {SignedOutError}
 */
export function followBuild(
  organizationId: string,
  request: BuildLogRequest,
  options: FollowOptions,
): AsyncGenerator<BuildLogEvent, void, undefined> {
  return convertErrors(followBuildLog(openTransport(organizationId, options), request, options), options);
}

/**
 * Yields what an app prints since a time.
 *
 * @throws {RestError}
 * @throws {SignedOutError}
 */
export function followRuntime(
  organizationId: string,
  request: RuntimeLogRequest,
  options: FollowOptions,
): AsyncGenerator<RuntimeLog, void, undefined> {
  return convertErrors(followRuntimeLog(openTransport(organizationId, options), request, options), options);
}

/**
 * Yields what changes in the organization, without an end.
 *
 * @throws {RestError}
 * @throws {SignedOutError}
 */
export function followChanges(
  organizationId: string,
  options: FollowOptions,
): AsyncGenerator<OrganizationEvent, void, undefined> {
  return convertErrors(followOrganization(openTransport(organizationId, options), options), options);
}

function openTransport(organization: string, { onConnection }: FollowOptions): Transport {
  return new Transport({
    url: location.origin,
    organization,
    maxRetries: Infinity,
    token: ({ isRejected }) => {
      if (isRejected) clearAccessToken();
      return getAccessToken();
    },
    fetch: async (url, init) => {
      try {
        const response = await fetch(url, init);
        onConnection(response.ok);
        return response;
      } catch (error) {
        onConnection(false);
        throw error;
      }
    },
  });
}

/** Converts the errors of the SDK to those of this page. Ends without an error when the stream was closed. */
async function* convertErrors<T>(
  events: AsyncGenerator<T, void, undefined>,
  { signal }: FollowOptions,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* events;
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ServiceError)) throw error;
    if (error.cause instanceof SignedOutError) throw error.cause;
    if (error.code === "unauthenticated") throw new SignedOutError("You are signed out.");
    throw new RestError(error.message);
  }
}
