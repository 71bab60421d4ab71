import { toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { storableText } from '../../../platform/json.ts';
import type { ChatStore } from './store.ts';

/** The bus topic of stored replies: a reply has more chunks, or has ended. */
export const CHAT_TOPIC = 'chat';

/** Milliseconds that deltas are buffered before they become one chunk. */
const GATHER_MS = 100;
/** Milliseconds between heartbeats while no delta comes. */
const HEARTBEAT_MS = 3_000;
/** Failures of the database in a row after which a reply is lost. */
const MAX_FAILURES = 50;

export interface ChunkWriterOptions {
  readonly id: string;
  readonly store: ChatStore;
  readonly bus: EventBus;
  /** Called once when chunks can't be written, or another process has given the reply up. */
  readonly onLost: (reason: Error) => void;
}

/** Writes the deltas of one running reply as chunks, and its heartbeats. */
export function createChunkWriter({ id, store, bus, onLost }: ChunkWriterOptions) {
  let gathered = '';
  /** The chunk that is being written: one whose acknowledgement was lost is written again as it was. */
  let chunk = '';
  let isFinishing = false;
  let position = 0;
  let lastWrite = -Infinity;
  let failures = 0;
  let lost: Error | null = null;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    if (chunk === '') {
      const length = isFinishing ? gathered.length : wholeLength(gathered);
      chunk = storableText(gathered.slice(0, length));
      gathered = gathered.slice(length);
    }
    const delta = chunk === '' ? null : chunk;
    if (lost !== null || (delta === null && performance.now() - lastWrite < HEARTBEAT_MS)) return;
    lastWrite = performance.now();
    if (!(await store.append(id, position, delta))) {
      failures = MAX_FAILURES;
      throw new Error('another process gave the reply up');
    }
    failures = 0;
    if (delta === null) return;
    chunk = '';
    position += 1;
    bus.publish(CHAT_TOPIC, id, position);
  }
  // One at a time, so that chunks stay in order; what could not be written is tried again.
  function schedule(): Promise<void> {
    writing ??= write()
      .catch((thrown: unknown) => {
        failures += 1;
        if (lost !== null || failures < MAX_FAILURES) return;
        lost = toError(thrown);
        onLost(lost);
      })
      .finally(() => (writing = null));
    return writing;
  }
  const hasMore = (): boolean => (gathered !== '' || chunk !== '') && lost === null;
  const timer = setInterval(() => void schedule(), GATHER_MS);
  return {
    add(delta: string): void {
      gathered += delta;
      // A delta after a pause is written at once; those that follow it closely are buffered.
      if (failures === 0 && performance.now() - lastWrite >= GATHER_MS) void schedule();
    },
    /** Writes the rest. Throws when it can't be written. */
    async finish(): Promise<void> {
      isFinishing = true;
      while (hasMore()) {
        await schedule();
        if (failures > 0) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      }
      if (lost !== null) throw lost;
    },
    /** Stops, and wakes the followers: the reply has ended. */
    close(): void {
      clearInterval(timer);
      bus.publish(CHAT_TOPIC, id, position + 1);
    },
  };
}

/** The length of a text without the half of a character that it may end with: the other half comes with the next delta. */
function wholeLength(text: string): number {
  return /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length;
}
