/** A way the service could break, and must not. */
export interface Hazard {
  title: string;
  /** `held`: a test cites it, and `coverage.test.ts` insists on that. `later`: not built yet, so no test may cite it. */
  state: "held" | "later";
}

function held(title: string): Hazard {
  return { title, state: "held" };
}

function later(title: string): Hazard {
  return { title, state: "later" };
}

/** The hazards by number; a test cites one as `hazard(41)`. */
export const HAZARDS = {
  // Input and git
  1: held("A repository name that is missing, of another type or no `owner/name`"),
  2: held("A repository name that passes the pattern and climbs out of its folder"),
  3: held("A repository name that reads as a command-line option"),
  4: held("A repository name of absurd length"),
  5: held("A branch name that git would take for an option that runs a command"),
  6: held("A branch name with shell syntax or control characters"),
  7: held("A branch name that git reads as an expression, a range or a full ref"),
  8: held("A branch name that is empty or blank"),
  9: held("A branch name of look-alike or text-reversing characters"),
  10: held("A branch that does not exist"),
  11: held("A private repository told apart from an absent one"),
  12: held("A repository host that redirects elsewhere"),
  13: held("A repository host whose address changes between the check and the connection"),
  14: held("A submodule that points somewhere dangerous"),
  15: held("A symbolic link in the repository that points outside it"),
  16: held("A build output folder exchanged for a link while it is uploaded"),
  17: held("Hooks, filters and smudge programs that a repository brings along"),
  18: held("A repository made to exhaust disk, file count or path length"),
  19: held("File names that mean `.git` on another file system"),
  20: held("A customization that is huge, carries control characters or asks for secrets"),
  21: held("A body that is not JSON, not an object, too large or mislabelled"),
  22: held("Unknown fields in a body that name what the caller may not set"),

  // Authentication and tenancy
  23: held("An Authorization header that is missing, garbled or of another scheme"),
  24: held("A forged, misdirected or outdated JWT"),
  25: held("A revoked or expired key used a moment later"),
  26: held("Another organization's app reached with a valid key"),
  27: held("A path id that is no UUID"),
  28: held("An organization header that names an organization the caller is no member of"),
  29: held("A member removed in the middle of a session"),
  30: held("A token of one kind used where another kind belongs"),
  31: held("A key in the query string"),
  32: held("Thousands of wrong keys a minute"),
  33: held("Another organization's app in a list, by any cursor or filter"),

  // Limits
  34: held("The deploy after the last one the rate allows"),
  35: held("Many deploys at once, on several processes"),
  36: held("A clock that jumps or a process that restarts inside the window"),
  37: held("Two deploys at once for the last place in the plan"),
  38: held("A place in the plan given back twice, or never"),
  39: held("An idempotency key repeated, reused or raced"),
  40: held("A caller that loses the answer and asks again"),

  // Pipeline
  41: held("A worker killed in any step of a build"),
  42: held("A server killed between its commit and its answer"),
  43: held("A database that restarts during a build"),
  44: held("A worker that wakes up after another took its job"),
  45: held("A build canceled in any of its states"),
  46: held("A build that hangs, ignores signals or leaves daemons behind"),
  47: held("A build whose output is endless or is no text"),
  48: held("A build that prints secrets"),
  49: held("A build that looks for secrets, metadata services or other apps"),
  50: held("An install script that goes where it must not or never stops"),
  51: held("An install or build that fails through no fault of the repository"),
  52: held("A new version that turns out unhealthy when it goes live"),
  53: later("A second deploy of an app that is still building"),
  54: held("Slugs that collide, are reserved or are no host name"),
  55: held("Logs that are asked for before there are any"),
  56: later("Hundreds of idle or slow readers of a log"),

  // Deletion
  57: held("An app deleted twice, or by two callers at once"),
  58: held("An app deleted while it is building"),
  59: held("A platform that fails while an app is torn down"),
  60: held("A process killed between two steps of a teardown"),
  61: held("A resource that was created but never recorded"),
  62: held("Resources that cannot go while others still use them"),
  63: held("A slug that another organization takes after a deletion"),

  // Edges
  64: later("Incoming webhooks that are replayed, forged or late"),
  65: later("An outgoing webhook aimed at a private address"),
  66: later("HTTP requests that are malformed, conflicting or endlessly slow"),
  67: held("Line breaks smuggled into a log"),
  68: later("A migration or roll-back while the service answers"),
  69: later("Internals in the text of an error"),
  70: later("A restored backup that repeats destructive work"),
} satisfies Record<number, Hazard>;

export type HazardNumber = keyof typeof HAZARDS;
