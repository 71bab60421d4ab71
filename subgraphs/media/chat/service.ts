import type { Kysely } from 'kysely';

import { idempotencyOf } from '../../../platform/access/idempotency.ts';
import { AppError, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { HttpClient } from '../../../platform/http/http-client.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { ChatTables } from '../database/chat-tables.ts';
import { callersError } from '../domain/callers-error.ts';
import type { FileService } from '../files/files.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { createMaker, type Ready } from './chat-runner.ts';
import type { ChatChunk, ChatInput, ChatReply, ChatService } from './chat.ts';
import { follow } from './follow.ts';
import { bindingsTaking } from './limits.ts';
import { checkMedia } from './media-parts.ts';
import { checkConversation } from './messages.ts';
import { createChatStore, type ChatStore, type KeptUnder } from './store.ts';

export interface ChatServiceOptions {
  readonly database: Kysely<ChatTables>;
  readonly bus: EventBus;
  readonly registry: GeneratorRegistry;
  readonly files: FileService;
  readonly http: HttpClient;
  readonly logger: Logger;
  /** Longest time one reply may take, in milliseconds (default 10 minutes). */
  readonly longestMs?: number;
}

/** Milliseconds between removals of old replies by one process. */
const PRUNE_EVERY_MS = 60_000;

/** Makes the service (chat.ts says what each verb does). */
export function createChatService(options: ChatServiceOptions): ChatService {
  const { bus } = options;
  const store = createChatStore(options.database);
  const maker = createMaker({ ...options, store });
  const prune = createPruning(options, store);

  /** The id of the kept reply, which is begun when the key is new. */
  async function kept(entry: KeptUnder, input: ChatInput): Promise<string> {
    // A repeated request is answered before anything else is looked at.
    const known = await sameReply(store, entry);
    if (known !== null) return known;
    const ready = await readyFor(options, input);
    prune();
    const id = (await maker.begin(entry, ready)) ?? (await sameReply(store, entry));
    if (id === null) throw new AppError('INTERNAL', 'a reply was neither begun nor known');
    return id;
  }
  return {
    async chat(caller, input, { idempotencyKey, signal }) {
      const entry = idempotencyOf(caller, idempotencyKey, fingerprintOf(input));
      if (entry === null) return maker.once(await readyFor(options, input), signal);
      return wholeOf(follow({ id: await kept(entry, input), store, bus, signal }), signal);
    },
    async stream(caller, input, { idempotencyKey, afterSeq = 0, signal }) {
      const entry = idempotencyOf(caller, idempotencyKey, fingerprintOf(input));
      if (entry === null) throw new AppError('INTERNAL', 'a stream without an idempotency key');
      return follow({ id: await kept(entry, input), store, bus, signal, afterSeq });
    },
    close: () => maker.close(),
  };
}

/** Everything that can be refused is refused here, before anything is kept or paid for. */
async function readyFor(options: ChatServiceOptions, input: ChatInput): Promise<Ready> {
  const { generator, model = null } = input;
  // A generator that is not there is said before anything about the words.
  options.registry.bindingsFor(generator, 'CHAT', model ?? undefined);
  const conversation = checkConversation(input);
  const bindings = bindingsTaking(options.registry, { generator, model }, conversation);
  await checkMedia(options, conversation);
  return { bindings, model, conversation };
}

/** What makes two requests the same one. A chat and a stream of the same words are. */
function fingerprintOf({ generator, messages, ...rest }: ChatInput): unknown {
  const { model = null, system = null, temperature = null, maxTokens = null } = rest;
  return { operation: 'chat', generator, messages, model, system, temperature, maxTokens };
}

/** The kept reply of a key, null when the key is free. IDEMPOTENCY_CONFLICT when it stands for other words. */
async function sameReply(store: ChatStore, entry: KeptUnder): Promise<string | null> {
  const known = await store.byKey(entry);
  if (known === null || known.isOld) return null;
  if (known.fingerprint === entry.fingerprint) return known.id;
  const message = 'this idempotencyKey was used for another request; use a new one';
  throw new AppError('IDEMPOTENCY_CONFLICT', message, { field: 'idempotencyKey' });
}

async function wholeOf(chunks: AsyncIterable<ChatChunk>, signal: AbortSignal): Promise<ChatReply> {
  for await (const { reply, error } of chunks) {
    if (reply !== null) return reply;
    if (error !== null) throw callersError(error);
  }
  signal.throwIfAborted();
  throw new AppError('UNAVAILABLE', 'the reply broke off');
}

/** Removes old replies now and then, in the background of a new one. */
function createPruning({ logger }: ChatServiceOptions, store: ChatStore): () => void {
  let last = -Infinity;
  return () => {
    if (performance.now() - last < PRUNE_EVERY_MS) return;
    last = performance.now();
    store
      .prune()
      .catch((thrown: unknown) => logger.warn({ error: toError(thrown) }, 'old replies were not removed'));
  };
}
