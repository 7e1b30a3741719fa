import { expect, test } from "vitest";
import { getLoadedAnalyzer, loadAnalyzer } from "../../../domain/search/analyzer.ts";
import { type Language, languageBits, LANGUAGES, languagesOf } from "../../../domain/search/languages.ts";

async function analyze(text: string, language: Language = "english"): Promise<string[]> {
  const analyzer = await loadAnalyzer(language);
  return analyzer.analyze(text).map(({ text: term }) => term);
}

test("different forms of an English word have the same term", async () => {
  for (const [first, second] of [
    ["invoices", "invoicing"],
    ["policy", "policies"],
    ["monthly", "month"],
    ["refunded", "Refund"],
  ])
    expect(await analyze(first!)).toEqual(await analyze(second!));
  expect(await analyze("news")).not.toEqual(await analyze("new"));
});

test("stop words have no term, except as an acronym", async () => {
  expect(await analyze("What is the price of a machine? I don't know.")).toEqual(["price", "machin", "know"]);
  expect(await analyze("Ask the IT desk about it")).toEqual(["ask", "it", "desk"]);
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

test("languages are stored as bits that stay the same when a language is added", () => {
  expect(languageBits(["english"])).toBe(1);
  expect(languageBits(["simple", "english", "english"])).toBe(3);
  expect(languageBits(["ukrainian"])).toBe(2 ** 28);
  expect(languagesOf(languageBits(LANGUAGES))).toEqual(LANGUAGES);
  expect(languagesOf(0)).toEqual([]);
});
