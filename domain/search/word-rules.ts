import type { Language } from "./languages.ts";

export interface WordRules {
  /** Reduces a word in lower case to its stem. */
  stem: (word: string) => string;
  /** Words that are too frequent in the language to say what a text is about, in lower case. */
  stopWords: readonly string[];
}

/** Loads the rules of a language on first use, because all of them together take 50 ms and 10 MB. */
export async function loadWordRules(language: Exclude<Language, "simple">): Promise<WordRules> {
  if (language === "english") return await loadEnglish();
  const [{ stemmer: stem }, { stopwords: stopWords }] = await LOADERS[language]();
  return { stem, stopWords };
}

/** The library has the older Porter stemmer for English, in which `monthly` and `month` differ, and `news` and `new` are equal. */
async function loadEnglish(): Promise<WordRules> {
  const [{ stem }, { stopwords }] = await Promise.all([import("porter2"), import("@orama/stopwords/english")]);
  return { stem, stopWords: [...stopwords, FURTHER_STOP_WORD] };
}

/** The list of the library lacks it. */
const FURTHER_STOP_WORD = "a";

type Modules = Promise<[{ stemmer: (word: string) => string }, { stopwords: string[] }]>;

const LOADERS: Record<Exclude<Language, "english" | "simple">, () => Modules> = {
  arabic: () => Promise.all([import("@orama/stemmers/arabic"), import("@orama/stopwords/arabic")]),
  armenian: () => Promise.all([import("@orama/stemmers/armenian"), import("@orama/stopwords/armenian")]),
  bulgarian: () => Promise.all([import("@orama/stemmers/bulgarian"), import("@orama/stopwords/bulgarian")]),
  danish: () => Promise.all([import("@orama/stemmers/danish"), import("@orama/stopwords/danish")]),
  dutch: () => Promise.all([import("@orama/stemmers/dutch"), import("@orama/stopwords/dutch")]),
  finnish: () => Promise.all([import("@orama/stemmers/finnish"), import("@orama/stopwords/finnish")]),
  french: () => Promise.all([import("@orama/stemmers/french"), import("@orama/stopwords/french")]),
  german: () => Promise.all([import("@orama/stemmers/german"), import("@orama/stopwords/german")]),
  greek: () => Promise.all([import("@orama/stemmers/greek"), import("@orama/stopwords/greek")]),
  hindi: () => Promise.all([import("@orama/stemmers/indian"), import("@orama/stopwords/indian")]),
  hungarian: () => Promise.all([import("@orama/stemmers/hungarian"), import("@orama/stopwords/hungarian")]),
  indonesian: () => Promise.all([import("@orama/stemmers/indonesian"), import("@orama/stopwords/indonesian")]),
  irish: () => Promise.all([import("@orama/stemmers/irish"), import("@orama/stopwords/irish")]),
  italian: () => Promise.all([import("@orama/stemmers/italian"), import("@orama/stopwords/italian")]),
  lithuanian: () => Promise.all([import("@orama/stemmers/lithuanian"), import("@orama/stopwords/lithuanian")]),
  nepali: () => Promise.all([import("@orama/stemmers/nepali"), import("@orama/stopwords/nepali")]),
  norwegian: () => Promise.all([import("@orama/stemmers/norwegian"), import("@orama/stopwords/norwegian")]),
  portuguese: () => Promise.all([import("@orama/stemmers/portuguese"), import("@orama/stopwords/portuguese")]),
  romanian: () => Promise.all([import("@orama/stemmers/romanian"), import("@orama/stopwords/romanian")]),
  russian: () => Promise.all([import("@orama/stemmers/russian"), import("@orama/stopwords/russian")]),
  sanskrit: () => Promise.all([import("@orama/stemmers/sanskrit"), import("@orama/stopwords/sanskrit")]),
  serbian: () => Promise.all([import("@orama/stemmers/serbian"), import("@orama/stopwords/serbian")]),
  spanish: () => Promise.all([import("@orama/stemmers/spanish"), import("@orama/stopwords/spanish")]),
  swedish: () => Promise.all([import("@orama/stemmers/swedish"), import("@orama/stopwords/swedish")]),
  tamil: () => Promise.all([import("@orama/stemmers/tamil"), import("@orama/stopwords/tamil")]),
  turkish: () => Promise.all([import("@orama/stemmers/turkish"), import("@orama/stopwords/turkish")]),
  ukrainian: () => Promise.all([import("@orama/stemmers/ukrainian"), import("@orama/stopwords/ukrainian")]),
};
