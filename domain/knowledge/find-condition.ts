import type { Language } from "../search/languages.ts";
import type { PassageHit } from "../documents/search-passages.ts";
import { listSentences, type Sentence } from "./list-sentences.ts";

/** Words that restrict or forbid what the sentence beside them allows. */
const CONDITIONS: Partial<Record<Language, RegExp>> = {
  english:
    /\b(?:unless|except|exception|excluding|only if|only when|provided that|prohibited|forbidden|not allowed|not permitted|must not|may not|cannot|neither|however|does not apply|do not apply)\b/iu,
  german:
    /(?<!\p{L})(?:es sei denn|außer|ausgenommen|mit Ausnahme|nur wenn|sofern|verboten|untersagt|unzulässig|nicht (?:gestattet|erlaubt|zulässig)|dürfen nicht|darf nicht|jedoch|gilt nicht)(?!\p{L})/iu,
  french:
    /(?<!\p{L})(?:sauf|excepté|à l['’]exception|à condition|uniquement si|interdite?s?|ne (?:peut|peuvent|doit|doivent) pas|toutefois|cependant)(?!\p{L})/iu,
  spanish:
    /(?<!\p{L})(?:salvo|excepto|a menos que|siempre que|solo si|sólo si|prohibid[oa]s?|no (?:puede|pueden|debe|deben)|sin embargo)(?!\p{L})/iu,
  portuguese:
    /(?<!\p{L})(?:salvo|exceto|a menos que|desde que|somente se|proibid[oa]s?|não (?:pode|podem|deve|devem)|no entanto)(?!\p{L})/iu,
  italian:
    /(?<!\p{L})(?:salvo|eccetto|tranne|ad eccezione|a meno che|purché|solo se|vietat[oaie]|non (?:può|possono|deve|devono)|tuttavia)(?!\p{L})/iu,
  dutch:
    /(?<!\p{L})(?:tenzij|behalve|uitgezonderd|mits|alleen als|verboden|niet toegestaan|mag niet|mogen niet|echter)(?!\p{L})/iu,
  russian:
    /(?<!\p{L})(?:кроме|за исключением|если не|только если|запрещ\p{L}*|нельзя|не (?:может|могут|должен|должны)|однако)(?!\p{L})/iu,
  chinese: /除外|除非|禁止|不得|不可|不能|仅限|但是|但须/u,
  japanese: /除く|除き|禁止|ただし|対象外|場合に限|できません|認められません/u,
};

/**
 * Finds the sentence beside another one that restricts it: "Sale is permitted. The font may not be sold by itself."
 *
 * @param covers - whether a sentence is about the same subject
 */
export function findCondition<T extends Sentence & { hit: PassageHit }>(
  found: T,
  covers: (sentence: T) => boolean,
): T | null {
  if (isRow(found.quote)) return null;
  const sentences = listSentences(found.hit.content);
  const index = sentences.findIndex(({ quote }) => quote === found.quote);
  for (const beside of [sentences[index + 1], sentences[index - 1]]) {
    if (beside === undefined || isRow(beside.quote) || !restricts(beside.quote, found.hit.language)) continue;
    const sentence = { ...found, ...beside };
    if (covers(sentence)) return sentence;
  }
  return null;
}

/** Whether a sentence forbids something, or allows it only under a condition. */
export function restricts(sentence: string, language: Language): boolean {
  return CONDITIONS[language]?.test(sentence) ?? false;
}

function isRow(quote: string): boolean {
  return quote.startsWith("|");
}
