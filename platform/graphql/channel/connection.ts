import type { KeyObject } from 'node:crypto';
import type { Socket } from 'node:net';

import type { Abandonable, TextAnswer } from '../../http/endpoints/post-text.ts';
import {
  batchFrame,
  createBatchSigner,
  createFrameReader,
  LEAVING,
  readAnswer,
  type AskMessage,
} from './protocol.ts';
import { createSlots } from './slots.ts';

/** The asking side of one channel. */
export type ChannelConnection = ReturnType<typeof createConnection>;

/** One operation of one caller. */
export interface Question extends Pick<AskMessage, 'variables' | 'caller'> {
  readonly text: string;
  readonly operationName?: string | undefined;
  readonly traceparent?: string | undefined;
}

export interface ConnectionOptions {
  readonly socket: Socket;
  /** What came with the answer to the upgrade. */
  readonly head: Buffer;
  readonly key: KeyObject;
  readonly maxAnswerBytes: number;
  readonly onClosed: () => void;
}

interface Waiting {
  readonly resolve: (answer: TextAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly since: number;
}

/** Characters of a batch after which another one begins, and of the largest question. */
const BATCH_CHARACTERS = 1024 * 1024;
/** Milliseconds without any answer after which a connection whose request was given up gets no more: it may lead nowhere. */
const SILENCE_MS = 5_000;
const LAST_NUMBER = 2 ** 32 - 1;

/** Makes it over an upgraded socket. What is asked in one turn of the event loop leaves together. */
export function createConnection(options: ConnectionOptions) {
  const { socket, maxAnswerBytes, onClosed } = options;
  const read = createFrameReader(maxAnswerBytes);
  const waiting = new Map<number, Waiting>();
  const state: State = { waiting, slots: createSlots(), isOpen: true, last: 0, heardAt: performance.now() };
  const endWhenDone = (): void => {
    if (!state.isOpen && waiting.size === 0 && sender.isEmpty()) socket.end();
  };
  const sender = createSender(options, endWhenDone);
  const leave = (): void => {
    state.isOpen = false;
    endWhenDone();
  };
  const lost = (error: Error): void => {
    state.isOpen = false;
    socket.destroy();
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const answered = (frame: Buffer): void => {
    const { id, bytes } = readAnswer(frame);
    if (id === LEAVING) return leave();
    const asked = waiting.get(id);
    waiting.delete(id);
    asked?.resolve({ status: 200, text: '', bytes });
  };
  const received = (chunk: Buffer): void => {
    state.heardAt = performance.now();
    try {
      for (const frame of read(chunk)) answered(frame);
      endWhenDone();
    } catch (thrown) {
      lost(thrown instanceof Error ? thrown : new Error('unreadable', { cause: thrown }));
    }
  };

  socket.on('data', received);
  socket.on('error', lost);
  socket.on('close', () => {
    lost(new Error('the connection was closed'));
    onClosed();
  });
  if (options.head.length > 0) received(options.head);

  return {
    /** Requests that wait for their answers. */
    get waiting() {
      return waiting.size;
    },
    /** Whether it takes further requests. */
    get isOpen() {
      return state.isOpen;
    },
    /**
     * Asks; rejects when the connection is lost. What is abandoned is no longer worked on. Null where the question is too large
     * for a channel.
     */
    ask: (question: Question, call: Abandonable) => ask(state, question, { call, send: sender.send }),
    /** Takes no more requests, and ends with its last answer. */
    leave,
    /** Ends it now. */
    destroy: () => void socket.destroy(),
  };
}

/** What is known of one connection. */
interface State {
  readonly waiting: Map<number, Waiting>;
  readonly slots: ReturnType<typeof createSlots>;
  /** Whether it gets further questions. */
  isOpen: boolean;
  /** The number of the newest question. */
  last: number;
  /** When something last came over it (performance.now()). */
  heardAt: number;
}

/** Sends messages, those of one turn of the event loop together; calls `sent` after each time. */
function createSender({ socket, key }: ConnectionOptions, sent: () => void) {
  const signer = createBatchSigner(key);
  let outgoing: string[] = [];
  const flush = (): void => {
    const texts = outgoing;
    outgoing = [];
    if (socket.writable) socket.cork();
    for (const batch of splitBatches(texts)) if (socket.writable) socket.write(batchFrame(batch, signer));
    socket.uncork();
    sent();
  };
  return {
    send(this: void, message: string): void {
      if (outgoing.length === 0) setImmediate(flush);
      outgoing.push(message);
    },
    isEmpty: () => outgoing.length === 0,
  };
}

/** Sends one question; null when it is too large for a batch. */
function ask(
  state: State,
  { text, ...question }: Question,
  { call, send }: { readonly call: Abandonable; readonly send: (message: string) => void },
): Promise<TextAnswer> | null {
  const { waiting, slots } = state;
  const rest = JSON.stringify(question);
  if (rest.length + text.length > BATCH_CHARACTERS) return null;
  const id = (state.last % LAST_NUMBER) + 1;
  state.last = id;
  const since = performance.now();
  return new Promise<TextAnswer>((resolve, reject) => {
    waiting.set(id, { resolve, reject, since });
    call.abandon = (reason) => {
      call.abandon = null;
      if (!waiting.delete(id)) return;
      send(`{"leave":${id}}`);
      if (performance.now() - Math.max(state.heardAt, since) > SILENCE_MS) state.isOpen = false;
      reject(reason);
    };
    send(`{"ask":${id},${slots.of(text)},${rest.slice(1)}`);
  });
}

/** Messages as the JSON of batches that are not too large. */
function* splitBatches(texts: readonly string[]): Generator<string> {
  let from = 0;
  let size = 0;
  for (const [index, text] of texts.entries()) {
    size += text.length;
    if (size < BATCH_CHARACTERS && index < texts.length - 1) continue;
    yield `[${texts.slice(from, index + 1).join(',')}]`;
    from = index + 1;
    size = 0;
  }
}
