import { enforceGenerator, type Caller } from '../../../platform/access/caller.ts';
import {
  idempotencyConflict,
  toIdempotencyRecord,
  type IdempotencyRecord,
} from '../../../platform/access/idempotency.ts';
import { AppError, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { HttpClient } from '../../../platform/http/http-client.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../database/database.ts';
import { toCallerError } from '../domain/failure.ts';
import type { FileService } from '../files/files.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import { createTransactor } from '../tasks/storage/transactor.ts';
import { pruneChatCosts } from '../tasks/storage/usage-store.ts';
import { createChatAccounts, type ChatAccountOptions } from './accounts.ts';
import { createChatRunner, type PreparedChat } from './chat-runner.ts';
import type { ChatChunk, ChatReply, ChatService, JoinOptions } from './chat.ts';
import { checkConversation } from './conversation/check-conversation.ts';
import type { ChatInput } from './conversation/input.ts';
import { bindingsTaking } from './conversation/limits.ts';
import { checkMedia } from './conversation/media-parts.ts';
import { follow, createPresence } from './follow.ts';
import { createChatStore, type ChatStore, type StoredReply } from './store.ts';

export interface ChatServiceOptions extends Pick<
  ChatAccountOptions,
  'budgetGate' | 'budgetWarnings' | 'observer'
> {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly registry: GeneratorRegistry;
  readonly files: FileService;
  readonly http: HttpClient;
  readonly logger: Logger;
  /** Longest time one reply may take, in milliseconds (default 10 minutes). */
  readonly longestMs?: number;
}

const LONGEST_MS = 10 * 60_000;
/** Days that the cost of each chat is kept; the totals stay. */
const COST_DAYS = 90;
/** Most tries to begin a reply under a key that others begin theirs under at the same time. */
const MOST_ROUNDS = 100;
/** Seconds in which the same request joins a running reply that all its callers have left. */
const LEFT_SECONDS = 60;
/** Milliseconds between removals of old replies by one process. */
const PRUNE_EVERY_MS = 60_000;

/** Makes the service (chat.ts says what each verb does). */
export function createChatService(options: ChatServiceOptions): ChatService {
  const { bus, longestMs = LONGEST_MS } = options;
  const store = createChatStore(options.database);
  const accounts = createChatAccounts({ ...options, longestMs, transactor: createTransactor(options) });
  const runner = createChatRunner({ ...options, longestMs, store, accounts });
  const prune = createPruning(options, store);
  const presence = createPresence({ ...options, store });

  /** The id of the stored reply of a key; a new key starts one. */
  async function stored(
    caller: Caller,
    entry: IdempotencyRecord,
    { input, joinSeconds }: JoinOptions & { readonly input: ChatInput },
  ): Promise<string> {
    let prepared: PreparedChat | null = null;
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      // A repeated request is answered before anything else is checked.
      const known = await replyOfKey(store, entry);
      if (known !== null && !isPast(known, joinSeconds)) {
        if (known.leftAt !== null) await store.noteLeft(known.id, false);
        return known.id;
      }
      prepared ??= await prepareChat(options, caller, input);
      prune();
      // Null: another request was faster, whose reply is looked at in turn.
      const id = await runner.begin({ ...entry, replaces: known?.id ?? null }, prepared);
      if (id !== null) return id;
    }
    throw new AppError('UNAVAILABLE', 'too many requests under this key at once', { retryAfter: 1 });
  }
  return {
    async chat(caller, input, { idempotencyKey, joinSeconds, signal }) {
      const entry = toIdempotencyRecord(caller, idempotencyKey, computeFingerprint(input));
      if (entry === null) return runner.once(await prepareChat(options, caller, input), signal);
      return wholeReply(
        follow({ id: await stored(caller, entry, { input, joinSeconds }), store, bus, presence, signal }),
        signal,
      );
    },
    async stream(caller, input, { idempotencyKey, joinSeconds, afterSeq = 0, signal }) {
      const entry = toIdempotencyRecord(caller, idempotencyKey, computeFingerprint(input));
      if (entry === null) throw new AppError('INTERNAL', 'a stream without an idempotency key');
      return follow({
        id: await stored(caller, entry, { input, joinSeconds }),
        store,
        bus,
        presence,
        signal,
        afterSeq,
      });
    },
    finish: (graceSeconds) => runner.finish(graceSeconds),
    close: () => runner.close(),
  };
}

/** Refuses everything that can be refused, before anything is stored or paid for. */
async function prepareChat(
  options: ChatServiceOptions,
  caller: Caller,
  input: ChatInput,
): Promise<PreparedChat> {
  const { generator, model = null } = input;
  // An unknown generator is refused before the messages are checked.
  options.registry.bindingsFor(generator, 'CHAT', model ?? undefined);
  enforceGenerator(caller, generator);
  const conversation = checkConversation(input);
  const media = await checkMedia(options, caller, conversation);
  const bindings = bindingsTaking(options.registry, { generator, model }, { conversation, media });
  return { bindings, model, conversation, generator, owner: caller.id };
}

/** The fingerprint of a request. A chat and a stream of the same messages are the same. */
function computeFingerprint({ generator, messages, ...rest }: ChatInput): unknown {
  const { model = null, system = null, temperature = null, maxTokens = null, ...others } = rest;
  // What was added later is named where it is given only, so that older fingerprints stay what they were.
  const given = Object.entries(others).filter(([, value]) => value !== null && value !== undefined);
  return {
    operation: 'chat',
    generator,
    messages,
    model,
    system,
    temperature,
    maxTokens,
    ...Object.fromEntries(given),
  };
}

/** The stored reply of a key, null when the key is free. IDEMPOTENCY_CONFLICT when it was used for another request. */
async function replyOfKey(store: ChatStore, entry: IdempotencyRecord): Promise<StoredReply | null> {
  const known = await store.byKey(entry);
  if (known === null || known.isOld) return null;
  if (known.fingerprint === entry.fingerprint) return known;
  throw idempotencyConflict();
}

/** Whether a key that stands for replies in the making only is free again. One that nobody waits for is not taken from anybody. */
function isPast(
  { state, isStale, createdAt, leftAt }: StoredReply,
  joinSeconds: number | null | undefined,
): boolean {
  if (joinSeconds === null || joinSeconds === undefined) return false;
  if (state !== 'RUNNING' || isStale) return true;
  if (leftAt !== null && Date.now() - leftAt.getTime() < LEFT_SECONDS * 1_000) return false;
  return Date.now() - createdAt.getTime() >= joinSeconds * 1_000;
}

async function wholeReply(chunks: AsyncIterable<ChatChunk>, signal: AbortSignal): Promise<ChatReply> {
  for await (const { reply, error } of chunks) {
    if (reply !== null) return reply;
    if (error !== null) throw toCallerError(error);
  }
  signal.throwIfAborted();
  throw new AppError('UNAVAILABLE', 'the reply broke off');
}

/** Removes old replies at intervals, in the background of a new one. */
function createPruning({ logger, database }: ChatServiceOptions, store: ChatStore): () => void {
  let last = -Infinity;
  return () => {
    if (performance.now() - last < PRUNE_EVERY_MS) return;
    last = performance.now();
    Promise.all([store.prune(), pruneChatCosts(database, { days: COST_DAYS, limit: 5_000 })]).catch(
      (thrown: unknown) => logger.warn({ error: toError(thrown) }, 'old replies were not removed'),
    );
  };
}
