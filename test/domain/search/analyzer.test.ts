import { expect, test } from "vitest";
import { Analyzer, getLoadedAnalyzer, loadAnalyzer } from "../../../domain/search/analyzer.ts";
import { foldDiacritics } from "../../../domain/search/fold-diacritics.ts";
import {
  type Language,
  languageOfCode,
  codeOf,
  LANGUAGES,
  prefixOf,
  prefixOfTerm,
} from "../../../domain/search/languages.ts";
import { readQueryWords } from "../../../domain/search/query-words.ts";

async function analyze(text: string, language: Language = "english"): Promise<string[]> {
  const analyzer = await loadAnalyzer(language);
  return analyzer.analyze(text).map(({ text: term }) => term.slice(prefixOf(language).length));
}

test("different forms of an English word have the same term", async () => {
  for (const [first, second] of [
    ["invoices", "invoicing"],
    ["policy", "policies"],
    ["monthly", "month"],
    ["refunded", "Refund"],
  ])
    expect(await analyze(first!)).toEqual(await analyze(second!));
  expect(await analyze("3days 90s")).toEqual(["3days", "90s"]);
  expect(await analyze("news")).not.toEqual(await analyze("new"));
});

test("stop words have no term, except as an acronym", async () => {
  expect(await analyze("What is the price of a machine? I don't know.")).toEqual(["price", "machin", "know"]);
  expect(await analyze("Ask the IT desk about it")).toEqual(["ask", "it", "desk"]);
});

test("the stop words of a text are its other words, as they are written", async () => {
  const analyzer = await loadAnalyzer("english");
  const terms = analyzer.findStopWords("The IT desk doesn't help us. A thé");
  expect(terms).toEqual([
    { text: "the", position: 0 },
    { text: "doesnt", position: 3 },
    { text: "doesn", position: 3 },
    { text: "us", position: 5 },
    { text: "a", position: 6 },
  ]);
  expect(analyzer.analyze("The IT desk").map(({ text, position }) => [text, position])).toEqual([
    ["it", 1],
    ["desk", 2],
  ]);
});

test("an apostrophe separates no word, and a contraction is a stop word with its parts", async () => {
  expect(await analyze("o'clock l'accord", "simple")).toEqual(["oclock", "clock", "laccord", "accord"]);
  expect(await analyze("don't know, don")).toEqual(["know", "don"]);
  // Only the parts of a contraction are left out with it.
  expect(await analyze("th-at")).toEqual(["th"]);
});

test("a word that a stemmer removes stays as it is", async () => {
  const analyzer = new Analyzer("german", { stem: () => "", stopWords: ["und"] });
  expect(analyzer.analyze("Über und 2024").map(({ text }) => text)).toEqual(["de:über", "de:2024"]);
  const english = new Analyzer("english", { stem: (word) => (word === "cafe" ? "" : `${word}+`), stopWords: [] });
  expect(english.analyze("café naïve mp3").map(({ text }) => text)).toEqual(["café", "naive+", "mp3"]);
});

test("the stemmer of a language gets the diacritics, and the term has none", async () => {
  const seen: string[] = [];
  const stem = (word: string): string => {
    seen.push(word);
    return word;
  };
  const analyzer = new Analyzer("german", { stem, stopWords: [] });
  expect(analyzer.analyze("Häuser häuser 4711").map(({ text }) => text)).toEqual(["de:hauser", "de:hauser", "de:4711"]);
  expect(seen).toEqual(["häuser"]);
});

test("an analyzer is loaded once, and that of `simple` stands for one that is not loaded", async () => {
  expect(await loadAnalyzer("english")).toBe(await loadAnalyzer("english"));
  expect(getLoadedAnalyzer("simple")).toBe(await loadAnalyzer("simple"));
  expect(getLoadedAnalyzer("simple").language).toBe("simple");
});

test("diacritics make no difference", async () => {
  expect(await analyze("Café naïve Ångström")).toEqual(await analyze("cafe naive angstrom"));
  expect(await analyze("Straße Łódź Øre", "simple")).toEqual(["strasse", "lodz", "ore"]);
  expect(await analyze("Счёт", "russian")).toEqual(await analyze("счет", "russian"));
  expect(await analyze("İSTANBUL ılık", "simple")).toEqual(["istanbul", "ilik"]);
});

test("marks that are letters of their script stay", async () => {
  expect(await analyze("कि", "simple")).not.toEqual(await analyze("क", "simple"));
});

test("a simple text keeps its words", async () => {
  expect(await analyze("The invoices of the team", "simple")).toEqual(["the", "invoices", "of", "the", "team"]);
});

test.each(LANGUAGES.filter((language) => language !== "simple"))(
  "%s has stop words and a stemmer",
  async (language) => {
    const analyzer = await loadAnalyzer(language);
    expect(analyzer.language).toBe(language);
    expect(getLoadedAnalyzer(language)).toBe(analyzer);
    const samples: Partial<Record<Language, [string, string]>> = {
      german: ["Rechnungen", "Rechnung"],
      french: ["facturer", "facture"],
      spanish: ["facturas", "factura"],
      italian: ["fatture", "fattura"],
      dutch: ["rekeningen", "rekening"],
      russian: ["счета", "счет"],
      turkish: ["evler", "ev"],
    };
    const [first, second] = samples[language] ?? ["1", "1"];
    expect(await analyze(first, language)).toEqual(await analyze(second, language));
    // Names of object properties are words like any other.
    for (const word of ["constructor", "__proto__", "toString", "a", "1234"])
      expect((await analyze(`${word} 4711`, language)).at(-1)).toBe("4711");
  },
);

test.each(LANGUAGES.filter((language) => language !== "simple"))("%s has a code of its own", (language) => {
  expect(languageOfCode(codeOf(language))).toBe(language);
  expect(languageOfCode("xx")).toBeNull();
});

test("the terms of a language begin with its code, except for those of English and of no one language", async () => {
  expect(LANGUAGES.filter((language) => prefixOf(language) === "")).toEqual(["english", "simple"]);
  const [term] = (await loadAnalyzer("german")).analyze("Rechnungen");
  expect(term?.text).toBe("de:rechnung");
  expect([prefixOfTerm("de:rechnung"), prefixOfTerm("invoic")]).toEqual(["de:", ""]);
});

const read = (text: string, ...more: Language[]) =>
  readQueryWords(text, { language: "english", languages: ["english", ...more] });
const texts = async (text: string) => (await read(text)).map((word) => word.text);

test("a word has a term for each language in which it differs", async () => {
  expect(await read("Invoices", "simple")).toEqual([
    { text: "invoices", terms: ["invoic", "invoices"], otherTerms: [], isStopWord: false },
  ]);
  expect(await read("Zürich", "simple")).toEqual([
    { text: "zurich", terms: ["zurich"], otherTerms: [], isStopWord: false },
  ]);
});

test("a word has other terms in texts of other languages, unless it is a stop word of the query", async () => {
  expect(await read("Rechnungen", "german", "french")).toEqual([
    { text: "rechnungen", terms: ["rechnungen"], otherTerms: ["de:rechnung", "fr:rechnungen"], isStopWord: false },
  ]);
  expect(await read("the", "german")).toEqual([]);
});

test.each([
  ["chinese", "未使用的年假什么时候失效？", ["使用", "年假", "失效"]],
  ["japanese", "領収書はどこで提出しますか？", ["領収", "提出"]],
] as const)("a query in %s has pairs of characters of its words only", async (language, query, pairs) => {
  const words = (await readQueryWords(query, { language, languages: [language] })).map(({ text }) => text);
  expect(words).toEqual(expect.arrayContaining([...pairs]));
  expect(words).not.toContain(language === "chinese" ? "的年" : "は提");
});

test("a word that is a stop word in all languages is left out, and one that is so in some of them is marked", async () => {
  expect(await read("the price")).toEqual([{ text: "price", terms: ["price"], otherTerms: [], isStopWord: false }]);
  expect(await read("the price", "simple")).toEqual([
    { text: "the", terms: ["the"], otherTerms: [], isStopWord: true },
    { text: "price", terms: ["price"], otherTerms: [], isStopWord: false },
  ]);
});

test("words with the same terms are read once, as they are written first", async () => {
  expect(await texts("Invoicing of invoices, invoice")).toEqual(["invoicing"]);
});

test("of a script without spaces, pairs of characters are read, and a single character only if it is alone", async () => {
  expect(await texts("发票付")).toEqual(["发票", "票付"]);
  expect(await texts("票 x发")).toEqual(["票", "x", "发"]);
});

test("at most 10,000 characters and 1,024 words are read", async () => {
  const filler = "the ".repeat(2500);
  expect(await texts(`${filler.slice(0, -4)}oakx elm`)).toEqual(["oakx"]);
  const words = Array.from({ length: 1030 }, (_, index) => `w${index}`);
  expect(await texts(words.join(" "))).toEqual(words.slice(0, 1024));
});

test.each([
  ["plain", "plain"],
  ["café", "cafe"],
  ["cafe\u0301s", "cafes"],
  ["ǻ", "a"],
  ["œuvre", "oeuvre"],
  ["straße", "strasse"],
  ["ærø", "aero"],
  ["đặng", "dang"],
  ["það", "thad"],
  ["şehir", "sehir"],
  ["łódź", "lodz"],
  ["ħal", "hal"],
  ["ılık", "ilik"],
  ["ή", "η"],
  ["ё", "е"],
  ["شَدَّة", "شدة"],
  ["كتــاب", "كتاب"],
  ["שָׁלוֹם", "שלום"],
])("%s becomes %s", (word, folded) => {
  expect(foldDiacritics(word)).toBe(folded);
});

test.each(["किताब", "が", "각", "อากาศ", "plain_1'"])("%s stays as it is", (word) => {
  expect(foldDiacritics(word)).toBe(word);
});
