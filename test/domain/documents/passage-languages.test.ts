import { expect, test } from "vitest";
import { findLanguages } from "../../../domain/documents/passage-languages.ts";

const ENGLISH =
  "Every employee has twenty days of vacation a year, and the request is sent to the team lead in advance.";
const GERMAN =
  "Alle Beschäftigten haben dreißig Tage Urlaub im Jahr, und der Antrag geht vorher an die Leitung des Teams.";
const JAPANESE =
  "社員は年間20日の有給休暇を取得できます。休暇の申請は3週間前までに上司に提出してください。未使用の休暇は翌年の3月末に失効し、その後は取得できません。";

const passages = (...contents: string[]) => contents.map((content) => ({ heading: "", content }));

test("each passage has the language in which it is written, and a short one has that of its document", async () => {
  expect(await findLanguages("auto", passages(ENGLISH, GERMAN, ENGLISH, "IBAN"))).toEqual([
    "english",
    "german",
    "english",
    "english",
  ]);
  expect(await findLanguages("auto", passages(GERMAN, "IBAN"))).toEqual(["german", "german"]);
  expect(await findLanguages("auto", passages(JAPANESE))).toEqual(["japanese"]);
});

test("a stated language is that of every passage, and a document without words is in English", async () => {
  expect(await findLanguages("french", passages(ENGLISH, GERMAN))).toEqual(["french", "french"]);
  expect(await findLanguages("auto", passages("12 | 34"))).toEqual(["english"]);
  expect(await findLanguages("auto", [])).toEqual([]);
});
