/** The most names that a message lists. */
const MAX_NAMES = 10;

const NAME = /^[A-Z][A-Z0-9_]{0,127}$/;

/** A list of names for a message: `A`, `A and B`, `A, B and 5 more`. */
export function formatNames(names: readonly string[]): string {
  const listed = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names;
  return listed.length < 2 ? listed.join("") : `${listed.slice(0, -1).join(", ")} and ${listed.at(-1)}`;
}

/**
 * Says how to set variables that an app needs.
 *
 * @param when - `build` if the build needs them, which gets only variables that are set for it
 * @param subject - what to call the names, if the message lists them already
 */
export function adviseToSet(
  names: readonly string[],
  when: "build" | "start",
  subject: string = formatNames(names),
): string {
  const invalid = names.filter((name) => !NAME.test(name));
  if (invalid.length > 0)
    return `Rename ${formatNames(invalid)}: the names of variables match ^[A-Z][A-Z0-9_]*$. Then set them, and deploy again.`;
  const [body, option] = when === "build" ? [" with build: true", " --build"] : ["", ""];
  const example = names.length === 1 ? `${names[0]}` : "{name}";
  return `Set ${subject}: PUT /v1/apps/{id}/variables/${example}${body}, or svc variables set APP ${names.length === 1 ? names[0] : "NAME"} VALUE${option}. Then deploy again.`;
}

/** The rest of a long output, or of a long line, is not searched. In characters. */
const MAX_SEARCHED = 16 * 1024;
const MAX_LINE = 500;

/** What a line says about a value that is absent. */
const ABSENT =
  /\b(missing|required?|undefined|unset|empty|no value|not (set|defined|found|provided|configured|present)|must (be )?(set|provided?|defined?)|(please )?(set|define|provide) (the|an?|your)|please (set|define|provide|add)|is not exported by|could not find)\b/i;

/** What a line says about the environment. */
const ENVIRONMENT = /\benv\b|\benv[:.-]|environment|variable|secret|credential|api.?key|\.env\b/i;

/** A name with an underscore, which few other words have. */
const DISTINCT_NAME =
  /(?<![\w$/.-])(?:process\.env\.|import\.meta\.env\.|env\.)?([A-Z][A-Z\d]*(?:_[A-Z\d]+)+)(?![\w$-])/g;

/** Any name, where nothing else can stand. */
const MARKED_NAMES = [
  /["'`*]([A-Z][A-Z\d_]{2,})["'`*]/g,
  /\benv\.([A-Z][A-Z\d_]{2,})\b/g,
  /\b(?:env|environment variables?|env(?:ironment)? vars?|variables?)(?:\(s\))?:? ([A-Z][A-Z\d_]{2,})\b/g,
];

/** What validators print of a variable that is absent: zod and t3-env, also as JSON; valibot; class-validator; a list such as envalid's. */
const VALIDATOR_NAMES = [
  /received[^\]}]{0,40}undefined[^\]}]{0,80}path["']?: ?\[\s*["']([A-Z][A-Z\d_]+)["']\s*\]/gi,
  /path["']?: ?\[\s*["']([A-Z][A-Z\d_]+)["']\s*\][^\]}]{0,80}(?:Required|received undefined)/g,
  /\b([A-Z][A-Z\d_]+)["']?: ?\[\s*["'](?:Required|[Mm]ust be (?:set|provided|defined)|[^\]]{0,80}received undefined)/g,
  /(?:Required|received undefined)\s+→ at ([A-Z][A-Z\d_]+)/g,
  /(?:^|[\s"'])([A-Z][A-Z\d]*(?:_[A-Z\d]+)+)["']?:? (?:is )?[Rr]equired\b/g,
  /Expected "([A-Z][A-Z\d_]+)" but received undefined/g,
  /\bproperty ([A-Z][A-Z\d_]+) has failed the following constraints\b/g,
];

/** Codes of errors, which look like names of variables, and the variable that is always set. */
const NO_NAME = /^((ERR|E[A-Z]+|SQLITE|UND|HTTP|MODULE|UNABLE|CERT|DEPTH)_|NODE_ENV$)/;

/**
 * Finds the names of environment variables that a program misses, as its messages name them. The messages of common
 * validators and libraries are known. The result is a guess, for an advice.
 *
 * @param lines - what the program printed
 */
export function findMissingVariables(lines: readonly string[]): string[] {
  const text = cutAfterWord(lines.join("\n"), MAX_SEARCHED);
  const names = new Set<string>();
  for (const pattern of VALIDATOR_NAMES) for (const [, name = ""] of text.matchAll(pattern)) names.add(name);
  let isInList = false;
  for (const line of text.split("\n").map((each) => cutAfterWord(each.trim(), MAX_LINE))) {
    const listed: string[] = isInList ? readListItem(line) : [];
    isInList = isListTitle(line) || listed.length > 0;
    for (const name of [...listed, ...readNames(line)]) names.add(name);
  }
  return [...names].filter((name) => NAME.test(name) && !NO_NAME.test(name));
}

/** Cuts a text. A part of a name at its end would look like a name. */
function cutAfterWord(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let end = maxLength;
  while (end > 0 && /[\w$]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Whether a list of absent variables follows. */
function isListTitle(line: string): boolean {
  return line.endsWith(":") && ABSENT.test(line) && /\b(variables?|env|secrets)\b/i.test(line);
}

/** The names at the beginning of an item of a list: `- A`, `A: description`, `A, B`. */
function readListItem(line: string): string[] {
  const match = /^[-*•✖❌ ]*((?:[A-Z][A-Z\d_]{2,})(?:, ?[A-Z][A-Z\d_]{2,})*)(?:$|[:\s(])/u.exec(line);
  return match?.[1]?.split(/, ?/) ?? [];
}

function readNames(line: string): string[] {
  if (!ABSENT.test(line) || /\bReferenceError\b/.test(line)) return [];
  const distinct = [...line.matchAll(DISTINCT_NAME)].map(([, name = ""]) => name);
  if (distinct.length > 0 && (ENVIRONMENT.test(line) || SUBJECT.test(line))) return distinct;
  if (!ENVIRONMENT.test(line)) return [];
  return MARKED_NAMES.flatMap((pattern) => [...line.matchAll(pattern)].map(([, name = ""]) => name));
}

/** A name that is said to be absent itself. */
const SUBJECT =
  /\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+["'`*]? (is|was|are|must|has|should|not|missing|required|undefined)\b|\b(missing|set|define|provide):? ["'`*]?[A-Z][A-Z\d]*(?:_[A-Z\d]+)+/i;

/** The names that a file such as `.env.example` assigns. */
export function readAssignedNames(text: string): string[] {
  const names = [...text.slice(0, MAX_SEARCHED).matchAll(/^[ \t]*(?:export[ \t]+)?([A-Z][A-Z\d_]*)[ \t]*=/gm)];
  return [...new Set(names.map(([, name = ""]) => name))].filter((name) => NAME.test(name));
}
