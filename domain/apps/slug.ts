import { randomInt } from "node:crypto";

/** Without vowels and look-alikes, so that a suffix spells no word and is easy to read aloud. */
const SUFFIX_ALPHABET = "23456789bcdfghjkmnpqrstvwxz";
const SUFFIX_LENGTH = 6;
const DNS_LABEL_LENGTH = 63;

/**
 * A new slug for an app: the repository's name as a DNS label, and a random suffix. The suffix prevents
 * that a slug is reserved, guessed or reused, and that a taken name reveals the app of another organization.
 */
export function slugFor(name: string): string {
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, DNS_LABEL_LENGTH - SUFFIX_LENGTH - 1)
    .replace(/^-+|-+$/g, "");
  return `${label === "" ? "app" : label}-${randomSuffix()}`;
}

function randomSuffix(): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join("");
}
