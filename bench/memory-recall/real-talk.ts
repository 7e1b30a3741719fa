import type { Conversation, ConversationTurn, ReadFile } from "./conversation.ts";

interface Message {
  clean_text: string;
  speaker: string;
  /** As in `29.12.2023, 00:51:12`. */
  date_time: string;
  dia_id: string;
}

interface Chat {
  [session: `session_${number}`]: Message[];
  qa: { question: string; evidence?: string[] }[];
}

const CHATS = [
  "Chat_1_Emi_Elise",
  "Chat_2_Kevin_Elise",
  "Chat_3_Kevin_Paola",
  "Chat_4_Emi_Paola",
  "Chat_5_Nicolas_Nebraas",
  "Chat_6_Vanessa_Nicolas",
  "Chat_7_Nebraas_Vanessa",
  "Chat_8_Akib_Muhhamed",
  "Chat_9_Fahim_Akib",
  "Chat_10_Fahim_Muhhamed",
];
/** Those of the last three speakers. */
const HELD_OUT = CHATS.slice(7);

/** Reads ten chats of people during three weeks. Questions whose evidence is not a turn are left out. */
export async function readRealTalk(read: ReadFile): Promise<Conversation[]> {
  return await Promise.all(
    CHATS.map(async (name) => {
      const chat = JSON.parse(await read(`data/${name}.json`)) as Chat;
      const turns = readTurns(chat);
      const ids = new Set(turns.map(({ id }) => id));
      const questions = chat.qa.map(({ question, evidence = [] }) => ({
        text: question,
        evidence: [...new Set(evidence)],
      }));
      return {
        collection: "REALTALK",
        turns,
        questions: questions.filter(({ evidence }) => evidence.length > 0 && evidence.every((id) => ids.has(id))),
        isHeldOut: HELD_OUT.includes(name),
      };
    }),
  );
}

function readTurns(chat: Chat): ConversationTurn[] {
  const turns: ConversationTurn[] = [];
  for (let session = 1; chat[`session_${session}`] !== undefined; session++)
    for (const message of chat[`session_${session}`] ?? [])
      turns.push({
        id: message.dia_id,
        content: `${message.speaker}: ${message.clean_text}`,
        at: readTime(message.date_time),
      });
  return turns;
}

function readTime(text: string): Date {
  const [day = "", month = "", year = "", time = ""] = text.split(/[., ]+/);
  return new Date(`${year}-${month}-${day}T${time}Z`);
}
