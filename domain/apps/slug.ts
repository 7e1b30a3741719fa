import { randomInt } from "node:crypto";

/**
 * Contains no vowels and no similar characters (0 and o, 1 and l), so that a suffix spells no word and is easy to read.
 */
const SUFFIX_ALPHABET = "23456789bcdfghjkmnpqrstvwxz";
const SUFFIX_LENGTH = 6;
const DNS_LABEL_LENGTH = 63;

/**
 * A new slug for an app: the repository's name as a DNS label, and a random suffix. Because of the suffix, a slug
 * cannot be reserved, guessed or reused, and does not reveal whether another organization uses the same name.
 */
export function slugFor(name: string): string {
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, DNS_LABEL_LENGTH - SUFFIX_LENGTH - 1)
    .replace(/^-|-$/g, "");
  return `${label === "" ? "app" : label}-${randomSuffix()}`;
}

function randomSuffix(): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join("");
}
