import { createKeeper } from '../../../work/keeper.ts';

/** What this browser keeps of chats besides the server: what is typed, what is being answered, and the ids of a visitor's. */
export interface ChatDraft {
  /** The model that was chosen last. */
  readonly key: string;
  readonly words: string;
  readonly options: unknown;
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  /** Conversations of a visitor without an account, the last begun first. */
  readonly ids: readonly string[];
  /** Answers that are being made, by the question: their ids are the keys under which the server has them. */
  readonly pending: readonly { readonly question: string; readonly answer: string }[];
}

/** Nothing is kept. */
export const NO_CHATS: ChatDraft = {
  key: '',
  words: '',
  options: {},
  system: '',
  temperature: '',
  maxTokens: '',
  ids: [],
  pending: [],
};
const MOST_IDS = 100;
const MOST_PENDING = 20;
const keeper = createKeeper<Partial<ChatDraft>>('kiln.chats');

/** What is kept: what was begun in any tab, and what is filled in of this one. */
export function keptChats(): ChatDraft {
  const { ids, pending } = { ...NO_CHATS, ...keeper.latest('chat') };
  return { ...NO_CHATS, ...keeper.read('chat'), ids, pending };
}

/** Changes it. */
export function keepChats(change: Partial<ChatDraft>): ChatDraft {
  const next = { ...keptChats(), ...change };
  keeper.write('chat', next);
  return next;
}

/** Remembers that a conversation was begun in this browser. */
export function noteConversation(id: string): void {
  const { ids } = keptChats();
  if (!ids.includes(id)) keepChats({ ids: [id, ...ids].slice(0, MOST_IDS) });
}

/** Remembers an answer that is being made. */
export function notePending(question: string, answer: string): void {
  const { pending } = keptChats();
  keepChats({ pending: [{ question, answer }, ...pending].slice(0, MOST_PENDING) });
}

/** Forgets it when it has ended; answers nothing. */
export function endPending(answer: string): void {
  keepChats({ pending: keptChats().pending.filter((one) => one.answer !== answer) });
}

/** The answer to a question that was being made when the page was left. */
export function findPending(question: string): string | undefined {
  return keptChats().pending.find((one) => one.question === question)?.answer;
}
