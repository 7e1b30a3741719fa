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
  if (language === "chinese" || language === "japanese") return await loadUnspaced(language);
  const [{ stemmer: stem }, { stopwords: stopWords }] = await LOADERS[language]();
  return { stem, stopWords };
}

/** The library has the older Porter stemmer for English, in which `monthly` and `month` differ, and `news` and `new` are equal. */
async function loadEnglish(): Promise<WordRules> {
  const [{ stem }, { stopwords }] = await Promise.all([import("porter2"), import("@orama/stopwords/english")]);
  const stemRegular = (word: string): string => stem(IRREGULAR.get(word) ?? word);
  return { stem: stemRegular, stopWords: [...stopwords, FURTHER_STOP_WORD] };
}

/** English words whose forms have no common stem. */
const IRREGULAR = new Map(
  "began:begin begun:begin bought:buy broke:break broken:break brought:bring built:build caught:catch chose:choose chosen:choose children:child came:come dealt:deal drawn:draw drove:drive driven:drive fallen:fall fell:fall felt:feel flew:fly forgot:forget forgotten:forget gave:give given:give gone:go grew:grow grown:grow heard:hear held:hold hid:hide hidden:hide kept:keep knew:know known:know laid:lay led:lead left:leave lent:lend lost:lose made:make meant:mean men:man met:meet paid:pay people:person proven:prove ran:run rang:ring risen:rise rose:rise said:say sent:send shown:show sold:sell sought:seek spent:spend spoke:speak spoken:speak stole:steal stolen:steal taken:take taught:teach threw:throw thrown:throw told:tell took:take understood:understand women:woman won:win wore:wear worn:wear written:write wrote:write"
    .split(" ")
    .map((pair) => pair.split(":") as [string, string]),
);

/** Their words have no endings that a stemmer could remove, because the index contains characters and pairs of them. */
async function loadUnspaced(language: "chinese" | "japanese"): Promise<WordRules> {
  const { stopwords } = await (language === "chinese"
    ? import("@orama/stopwords/mandarin")
    : import("@orama/stopwords/japanese"));
  return { stem: (word) => word, stopWords: stopwords };
}

/** The list of the library lacks it. */
const FURTHER_STOP_WORD = "a";

type Modules = Promise<[{ stemmer: (word: string) => string }, { stopwords: string[] }]>;

const LOADERS: Record<Exclude<Language, "english" | "simple" | "chinese" | "japanese">, () => Modules> = {
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
