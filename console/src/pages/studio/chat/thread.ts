import type { StoredFile } from '../../../api/kiln.ts';
import { branchTo, endBelow, isEmpty, type Message, withMessage } from './tree.ts';

/** What is sent with a question. */
export interface Settings {
  readonly generator: string;
  readonly model: string;
  readonly system: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly options: object | null;
}

/** A conversation as it is shown. */
export interface ThreadState {
  /** Empty until something was said. */
  readonly title: string;
  readonly messages: readonly Message[];
  readonly currentId: string | null;
  /** The id of the answer that is being made. */
  readonly answering: string | null;
  readonly problem: unknown;
  /** Nothing can be said below what is not there yet, nor where it could not be loaded. */
  readonly isLoading: boolean;
}

/** A piece of an answer. */
export interface Piece {
  readonly seq: number;
  readonly delta: string;
  /** The whole answer, with its last piece. */
  readonly whole: (Pick<Message, 'text' | 'files'> & { readonly model: string }) | null;
  readonly error: unknown;
}

/** What a conversation needs of the server and of the browser. */
export interface ThreadParts {
  readonly load: () => Promise<
    Pick<ThreadState, 'title' | 'messages' | 'currentId'> & { readonly settings: Settings }
  >;
  readonly save: (state: ThreadState, settings: Settings, messages: readonly Message[]) => Promise<void>;
  readonly stream: (
    key: string,
    request: { readonly settings: Settings; readonly branch: readonly Message[] },
    listener: {
      readonly piece: (piece: Piece) => void;
      readonly failed: (error: unknown) => void;
      readonly ended: () => void;
    },
  ) => () => void;
  /** Answers that are being made, by their questions: they outlive the page. */
  readonly pending: {
    note(question: string, answer: string): void;
    end(answer: string): void;
    of(question: string): string | undefined;
  };
  readonly settings: () => Settings;
  readonly makeTitle: (text: string) => string;
  readonly onChange: (state: ThreadState) => void;
  readonly onLoaded: (settings: Settings) => void;
}

/** A conversation that is open. */
export type Thread = ReturnType<typeof createThread>;

/** Nothing was said yet. */
export const NOTHING: ThreadState = {
  title: '',
  messages: [],
  currentId: null,
  answering: null,
  problem: null,
  isLoading: false,
};

/**
 * Makes a conversation with a language model, kept on the server. The id of an answer is the key of its request: whoever
 * comes back while it is being made gets what is there already, and nothing is paid twice.
 */
export function createThread(parts: ThreadParts) {
  const { read, put, save, ask, end, halt } = createCore(parts);
  return {
    async load(): Promise<void> {
      put({ isLoading: true, problem: null });
      const { settings, ...found } = await parts.load();
      put({ ...found, isLoading: false });
      parts.onLoaded(settings);
      const last = found.messages.find(({ id }) => id === found.currentId);
      const pending = last?.role === 'USER' ? parts.pending.of(last.id) : undefined;
      if (last !== undefined && pending !== undefined) ask(last, pending, settings);
    },
    /** Says something after a message; after null it is a new beginning. */
    say(text: string, files: readonly StoredFile[], parentId: string | null): void {
      const { title, messages } = read();
      const question: Message = { id: crypto.randomUUID(), parentId, role: 'USER', text, files, model: null };
      put({
        title: title === '' ? parts.makeTitle(text) : title,
        messages: [...messages, question],
        currentId: question.id,
      });
      // Kept before it is answered: who comes back finds the question, and its answer by its key.
      save([question]);
      ask(question, crypto.randomUUID(), parts.settings());
    },
    /** Has a question answered anew, as a branch. */
    answer: (question: Message) => ask(question, crypto.randomUUID(), parts.settings()),
    /** Shows the branch of a message. */
    show(message: Message): void {
      put({ currentId: endBelow(read().messages, message.id) });
      save([]);
    },
    /** Ends an answer; what is there of it is kept. */
    stop(): void {
      const { answering } = read();
      if (answering !== null) end(answering, null);
    },
    /** Leaves it: the server goes on with an answer, and keeps it under its key. */
    leave: halt,
  };
}

function createCore(parts: ThreadParts) {
  let state = NOTHING;
  let running: (() => void) | null = null;
  const put = (next: Partial<ThreadState>) => {
    state = { ...state, ...next };
    parts.onChange(state);
  };
  const halt = () => {
    running?.();
    running = null;
  };
  /** What the server may not have: what is said next belongs below it. */
  let unsaved: readonly Message[] = [];
  const save = (messages: readonly Message[]) => {
    const sent = messages.reduce(withMessage, unsaved);
    unsaved = sent;
    parts.save(state, parts.settings(), sent).then(
      () => (unsaved = unsaved.filter((message) => !sent.includes(message))),
      (problem: unknown) => put({ problem }),
    );
  };

  /** Ends with what is there of an answer; without a word it is taken out again. */
  function end(answerId: string, problem: unknown): void {
    halt();
    parts.pending.end(answerId);
    const said = state.messages.find(({ id }) => id === answerId);
    put({ answering: null, problem });
    if (said !== undefined && isEmpty(said)) {
      const messages = state.messages.filter(({ id }) => id !== answerId);
      put({ messages, currentId: said.parentId });
    } else if (said !== undefined) save([said]);
  }

  /** Adds the answer that is to come below a question, and waits for it. */
  function ask(question: Message, id: string, settings: Settings): void {
    const { model } = settings;
    const answer: Message = { id, parentId: question.id, role: 'ASSISTANT', text: '', files: [], model };
    const branch = branchTo(state.messages, question.id);
    put({ messages: withMessage(state.messages, answer), currentId: id, answering: id, problem: null });
    parts.pending.note(question.id, id);
    const pieces = new Map<number, string>();
    const piece = ({ seq, delta, whole, error }: Piece) => {
      // By number, as a replay sends them again.
      pieces.set(seq, delta);
      const grown = {
        ...answer,
        text: whole?.text ?? joined(pieces),
        files: whole?.files ?? [],
        model: whole?.model ?? model,
      };
      put({ messages: withMessage(state.messages, grown) });
      if (error !== null) end(id, error);
    };
    const failed = (error: unknown) => end(id, error);
    const ended = () => state.answering === id && end(id, null);
    running = parts.stream(id, { settings, branch }, { piece, failed, ended });
  }
  return { read: () => state, put, save, ask, end, halt };
}

function joined(pieces: ReadonlyMap<number, string>): string {
  return [...pieces]
    .toSorted(([one], [other]) => one - other)
    .map(([, delta]) => delta)
    .join('');
}
