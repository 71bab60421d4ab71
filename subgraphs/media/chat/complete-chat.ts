import type { Json, JsonObject } from '../../../platform/json.ts';
import { UpstreamError } from '../domain/failure.ts';
import type { Binding } from '../generators/bindings/binding.ts';
import type {
  ChatOutcome,
  ChatPiece,
  ChatRequest,
  Connection,
  RemoteFile,
} from '../providers/contract/provider.ts';
import type { ChargedOutcome } from './accounts.ts';
import type { ChatReply } from './chat.ts';
import { findChatModel } from './conversation/limits.ts';
import type { Conversation } from './conversation/messages.ts';

/** One chat at the bindings of its generator, in order: the next one is tried when one fails before its first delta. */
export interface ChatCompletion {
  /** At least one. */
  readonly bindings: readonly Binding[];
  readonly model: string | null;
  readonly conversation: Conversation;
  /** The messages with their files, prepared once the first semaphore is free: they are large. */
  readonly messages: () => Promise<Json>;
  readonly semaphores: Semaphores;
  readonly signal: AbortSignal;
  readonly onDelta: (delta: string) => void;
  /** Called with what a provider will charge: null where it broke off. */
  readonly onCharged: (binding: Binding, outcome: ChargedOutcome | null) => void;
}

/** A reply whose images are not stored yet, and the binding that made it. */
interface CompletedChat {
  readonly reply: Omit<ChatReply, 'mediaIds'>;
  readonly images: readonly RemoteFile[];
  readonly binding: Binding;
}

/** Most characters of a reply. */
const MAX_REPLY = 2 << 20;

/** The reply; its text is the concatenation of the deltas. Throws UpstreamError, or what `messages` throws. */
export async function completeChat(options: ChatCompletion): Promise<CompletedChat> {
  let failure: unknown = new Error('a generator has no bindings');
  let messages: Json | null = null;
  for (const binding of usable(options.bindings)) {
    const deltas: string[] = [];
    try {
      const outcome = await options.semaphores.run(binding, options.signal, async () => {
        messages ??= await options.messages();
        return completeAt(binding, options, { messages, deltas });
      });
      const { model, usage, toolCalls = [], files: images = [] } = outcome;
      options.onCharged(binding, outcome);
      const reply = { text: deltas.join(''), toolCalls, model, provider: binding.provider.name, usage };
      return { reply, images, binding };
    } catch (thrown) {
      failure = thrown;
      if (deltas.length > 0) options.onCharged(binding, null);
      // Deltas that were sent can't be taken back, and another binding would send another reply.
      if (!(thrown instanceof UpstreamError) || deltas.length > 0) break;
      if (!thrown.retryable && !thrown.ofBinding) break;
      options.signal.throwIfAborted();
    }
  }
  throw failure;
}

/** Those whose upstreams may be asked. UNAVAILABLE when there is none. */
function usable(bindings: readonly Binding[]): readonly Binding[] {
  const able = bindings.filter(
    ({ breaker, isPaused }) => isPaused?.() !== true && breaker?.admit() !== false,
  );
  if (able.length > 0 || bindings.length === 0) return able;
  const pause = Math.min(...bindings.map(({ breaker }) => breaker?.pauseMs() ?? 0));
  const retryAfter = Math.max(1, Math.ceil(pause / 1000));
  throw new UpstreamError('UNAVAILABLE', 'no provider answers now; try again later', { retryAfter });
}

interface Progress {
  readonly messages: Json;
  /** The deltas so far. */
  readonly deltas: string[];
}

async function completeAt(
  binding: Binding,
  { conversation, model, signal, onDelta }: ChatCompletion,
  { messages, deltas }: Progress,
): Promise<ChatOutcome> {
  const { system, temperature, maxTokens, options } = conversation;
  const request: ChatRequest = { messages, system, temperature, maxTokens, ...options };
  const connection = connectionFor(binding, model);
  const context = { connection: isFlex(options.vendorOptions) ? patient(connection) : connection, signal };
  const filter = createDeltaFilter((delta) => {
    deltas.push(delta);
    onDelta(delta);
  });
  for await (const piece of streamPieces(binding, request, context)) {
    if ('delta' in piece) {
      filter.add(piece.delta);
      continue;
    }
    if (deltas.length === 0) filter.add(piece.outcome.text);
    filter.end();
    return piece.outcome;
  }
  throw new UpstreamError('UNAVAILABLE', 'the reply broke off');
}

/**
 * Makes deltas storable: within the limit, without NUL (which PostgreSQL's text has not), and never split within a
 * surrogate pair.
 */
function createDeltaFilter(onDelta: (delta: string) => void) {
  let characters = 0;
  let half = '';
  const emit = (text: string): void => {
    if (text !== '') onDelta(text.toWellFormed());
  };
  return {
    add(delta: string): void {
      characters += delta.length;
      if (characters > MAX_REPLY) {
        throw new UpstreamError('UNAVAILABLE', 'the reply does not end', { retryable: false });
      }
      const text = half + delta.replaceAll('\0', '');
      half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
      emit(text.slice(0, text.length - half.length));
    },
    end: () => emit(half),
  };
}

async function* streamPieces(
  { provider }: Binding,
  request: ChatRequest,
  context: { readonly connection: Connection; readonly signal: AbortSignal },
): AsyncIterable<ChatPiece> {
  if (provider.chatStream !== undefined) yield* provider.chatStream(request, context);
  else if (provider.chat !== undefined) yield { outcome: await provider.chat(request, context) };
  else throw new UpstreamError('UNAVAILABLE', `${provider.name} has no chat`);
}

/** Milliseconds that a chat at half the price may take: its vendors promise a quarter of an hour at most. */
export const FLEX_MS = 15 * 60_000;

/** Whether a chat is asked for at its vendor's half price, which comes slowly. */
export function isFlex(options: JsonObject | null | undefined): boolean {
  return options?.['service_tier'] === 'flex' || options?.['serviceTier'] === 'flex';
}

function patient(connection: Connection): Connection {
  return { ...connection, callTimeoutMs: Math.max(FLEX_MS, connection.callTimeoutMs ?? 0) };
}

/** As for tasks: with the model that the caller named, else the binding's first model for chat. */
function connectionFor(binding: Binding, model: string | null): Connection {
  const { connection } = binding;
  if (connection.model === null) return connection;
  const { callTimeoutSeconds: seconds } = binding;
  return {
    ...connection,
    model: model ?? findChatModel(binding, null)?.id ?? connection.model,
    ...(seconds !== undefined && { callTimeoutMs: seconds * 1000 }),
  };
}

/** Counting semaphores, one per binding: at most `concurrency` chats at once in this process, the rest waits in order. */
interface Semaphores {
  /** Runs the work when a slot is free; gives up waiting when the signal is aborted. */
  run<Result>(binding: Binding, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

/** Makes the semaphores of this process: each process counts its own chats. */
export function createSemaphores(): Semaphores {
  const lines = new Map<string, { taken: number; readonly waiting: Set<() => void> }>();
  return {
    async run(binding, signal, work) {
      const line = lines.get(binding.id) ?? { taken: 0, waiting: new Set() };
      lines.set(binding.id, line);
      if (line.taken < binding.concurrency) line.taken += 1;
      // A chat that ends hands its slot over, so `taken` stays as it is.
      else await turn(line.waiting, signal);
      try {
        return await work();
      } finally {
        const [next] = line.waiting;
        if (next) next();
        else line.taken -= 1;
        if (line.taken === 0) lines.delete(binding.id);
      }
    },
  };
}

function turn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      waiting.delete(enter);
      signal.removeEventListener('abort', giveUp);
    };
    const enter = (): void => {
      leave();
      resolve();
    };
    const giveUp = (): void => {
      leave();
      reject(signal.reason as Error);
    };
    signal.throwIfAborted();
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.add(enter);
  });
}
