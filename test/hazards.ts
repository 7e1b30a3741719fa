/** A dangerous situation that the service must handle. */
export interface Hazard {
  title: string;
  /** `covered`: a test cites it, which `requirements-coverage.test.ts` enforces. `planned`: not implemented, so no test may cite it. */
  state: "covered" | "planned";
}

function covered(title: string): Hazard {
  return { title, state: "covered" };
}

function planned(title: string): Hazard {
  return { title, state: "planned" };
}

/** The hazards by number. A test cites one as `hazard(41)`. */
export const HAZARDS = {
  // Input and git
  1: covered("A repository name that is missing, has another type or is not `owner/name`"),
  2: covered("A repository name that matches the pattern and leads out of its folder"),
  3: covered("A repository name that looks like a command-line option"),
  4: covered("A repository name that is too long"),
  5: covered("A branch name that git would treat as an option that runs a command"),
  6: covered("A branch name with shell syntax or control characters"),
  7: covered("A branch name that git parses as an expression, a range or a full ref"),
  8: covered("A branch name that is empty or blank"),
  9: covered("A branch name with look-alike or text-reversing characters"),
  10: covered("A branch that does not exist"),
  11: covered("A private repository that can be distinguished from an absent one"),
  12: covered("A git host that redirects to another host"),
  13: covered("A git host whose address changes between the check and the connection"),
  14: covered("A submodule with a dangerous URL"),
  15: covered("A symbolic link in the repository that points outside it"),
  16: covered("A build output folder that is replaced by a link during the upload"),
  17: covered("Hooks, filters and smudge programs of a repository"),
  18: covered("A repository that exhausts disk space, file count or path length"),
  19: covered("File names that are equal to `.git` on another file system"),
  20: covered("A customization that is too long, contains control characters or asks for secrets"),
  21: covered("A body that is not JSON, not an object, too large or has the wrong content type"),
  22: covered("Unknown fields in a body, such as fields that callers may not set"),

  // Authentication and tenancy
  23: covered("An Authorization header that is missing, malformed or has another scheme"),
  24: covered("A JWT that is forged, expired, or issued for another service"),
  25: covered("An API key that is used right after it was revoked or has expired"),
  26: covered("A valid key that is used for another organization's app"),
  27: covered("An id in the path that is not a UUID"),
  28: covered("An organization header, on any API, that names an organization of which the caller is not a member"),
  29: covered("A member who is removed from the organization during a session"),
  30: covered("A token that is used at an API for another kind of token"),
  31: covered("An API key in the query string"),
  32: covered("Thousands of wrong keys a minute"),
  33: covered("Another organization's app in a list, with any cursor or filter"),

  // Limits
  34: covered("A deploy above the rate limit"),
  35: covered("Concurrent deploys on several processes"),
  36: covered("A clock change or a process restart during the window of a rate limit"),
  37: covered("Two concurrent deploys for the last free slot of the plan"),
  38: covered("A slot of the plan that is released twice, or never"),
  39: covered("An idempotency key that is repeated, reused with another body or used concurrently"),
  40: covered("A caller that does not receive the response and retries"),

  // Pipeline
  41: covered("A worker that is killed in any step of a deployment"),
  42: covered("A server that is killed between the commit and the response"),
  43: covered("A database that restarts during a build"),
  44: covered("A worker that continues after its lease has passed to another worker"),
  45: covered("A build that is canceled in any state"),
  46: covered("A build that hangs, ignores signals or starts daemons"),
  47: covered("A build whose output is endless or binary"),
  48: covered("A build that prints secrets"),
  49: covered("A build that searches for secrets, metadata services or other apps"),
  50: covered("An install script that accesses the network, writes outside its folder or never ends"),
  51: covered("An install or build that fails for reasons outside the repository"),
  52: covered("A new version that is unhealthy when it goes live"),
  53: covered("A second deployment of an app that is still building"),
  54: covered("Slugs that collide, are reserved or are not valid host names"),
  55: covered("A request for logs before they exist"),
  56: covered("Hundreds of idle or slow readers of a log"),

  // Deletion
  57: covered("An app that is deleted twice, or by two callers concurrently"),
  58: covered("An app that is deleted while it is building"),
  59: covered("A platform that fails during the teardown of an app"),
  60: covered("A process that is killed between two steps of a teardown"),
  61: covered("A resource that was created and not recorded"),
  62: covered("Resources that cannot be removed while others use them"),
  63: covered("A slug that another organization uses after a deletion"),

  // Edges
  64: planned("Incoming webhooks that are replayed, forged or late"),
  65: planned("An outgoing webhook with a private address"),
  66: covered("HTTP requests that are malformed, contradictory or extremely slow"),
  67: covered("Line breaks that are injected into a log"),
  68: planned("A migration or rollback while the service runs"),
  69: covered("Internal details in an error message"),
  70: covered("A restored backup that repeats destructive jobs"),
} satisfies Record<number, Hazard>;

export type HazardNumber = keyof typeof HAZARDS;
