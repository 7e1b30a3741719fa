import type { z } from "zod";
import { askForName, findNearestNames } from "../../domain/shared/nearest-names.ts";

type Issue = z.core.$ZodIssue;

/** The beginnings of zod's own messages. Those of our schemas begin with a small letter. */
const OF_ZOD = /^(?:Invalid|Too (?:big|small)|Unrecognized)\b/;

/** The maximum number of unknown fields in a message, so that the response does not grow with the request. */
const MAX_UNKNOWN_FIELDS = 5;
/** In characters. */
const MAX_FIELD_NAME = 64;

/**
 * Says what is valid, in words of the service. A message that a schema of ours gives stays.
 *
 * @param names - the valid fields of the whole input, if they are known
 */
export function describeIssue(issue: Issue, names: readonly string[] = []): string {
  if (issue.code === "unrecognized_keys") {
    const nearest = issue.path.length === 0 ? findNearestNames(issue.keys[0] ?? "", names) : [];
    return `unknown field ${formatNames(issue.keys)}${nearest.length === 0 ? "" : `.${askForName(nearest)}`}`;
  }
  return issue.code === "custom" || !OF_ZOD.test(issue.message) ? issue.message : describeRule(issue);
}

function formatNames(names: readonly string[]): string {
  return names
    .slice(0, MAX_UNKNOWN_FIELDS)
    .map((name) => JSON.stringify(name.slice(0, MAX_FIELD_NAME)))
    .join(", ");
}

function describeRule(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return describeType(issue);
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of: "}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return describeBound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
    case "too_big":
      return describeBound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum);
    case "invalid_format":
      return `must be ${FORMATS[issue.format] ?? `in the format ${issue.pattern ?? issue.format}`}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    default:
      return "is not one of the accepted values";
  }
}

const TYPES: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  int: "an integer",
  object: "an object",
  record: "an object",
};

function describeType({ expected, message, path }: Extract<Issue, { code: "invalid_type" }>): string {
  const received = /received (\w{1,20})$/.exec(message)?.[1];
  if (received === "undefined" && path.length > 0) return `missing, expected ${expected}`;
  return `must be ${TYPES[expected] ?? `a ${expected}`}${received === undefined ? "" : `, not ${received}`}`;
}

const UNITS: Readonly<Record<string, string>> = { string: "character", array: "item", set: "item" };

function describeBound(origin: string, relation: string, bound: number | bigint): string {
  const unit = UNITS[origin];
  return unit === undefined
    ? `must be ${relation} ${bound}`
    : `must have ${relation} ${bound} ${unit}${Number(bound) === 1 ? "" : "s"}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  base64: "Base64",
  datetime: "an RFC 3339 time",
  email: "an email address",
  url: "a URL",
  uuid: "a UUID",
};
