import type { Json } from '../../../platform/json.ts';
import { UpstreamError } from '../domain/failure.ts';
import type { Binding } from '../generators/bindings/binding.ts';
import type { ChatOutcome, ChatPiece, ChatRequest, Connection } from '../providers/contract/provider.ts';
import type { ChatReply } from './chat.ts';
import { chatModelOf } from './limits.ts';
import type { Conversation } from './messages.ts';
import type { Places } from './semaphore.ts';

/** One conversation at the bindings of its generator, in order: the next is asked when one fails before its first word. */
export interface Converse {
  /** At least one. */
  readonly bindings: readonly Binding[];
  readonly model: string | null;
  readonly conversation: Conversation;
  /** The messages with their files, made when the first place is free: they are large. */
  readonly messages: () => Promise<Json>;
  readonly places: Places;
  readonly signal: AbortSignal;
  readonly onDelta: (delta: string) => void;
}

/** Most characters of a reply. */
const MAX_REPLY = 2 << 20;

/** The reply; its text is the concatenation of the deltas. Throws UpstreamError, or what `messages` throws. */
export async function converse(options: Converse): Promise<ChatReply> {
  let failure: unknown = new Error('a generator without bindings was asked');
  let messages: Json | null = null;
  for (const binding of options.bindings) {
    const said: string[] = [];
    try {
      const outcome = await options.places.within(binding, options.signal, async () => {
        messages ??= await options.messages();
        return converseAt(binding, options, { messages, said });
      });
      const { model, usage } = outcome;
      return { text: said.join(''), model, provider: binding.provider.name, usage };
    } catch (thrown) {
      failure = thrown;
      // What was said already can't be taken back, and saying it again elsewhere would be another reply.
      if (!(thrown instanceof UpstreamError) || !thrown.retryable || said.length > 0) break;
      options.signal.throwIfAborted();
    }
  }
  throw failure;
}

interface Saying {
  readonly messages: Json;
  /** The deltas so far. */
  readonly said: string[];
}

async function converseAt(
  binding: Binding,
  { conversation, model, signal, onDelta }: Converse,
  { messages, said }: Saying,
): Promise<ChatOutcome> {
  const { system, temperature, maxTokens } = conversation;
  const request: ChatRequest = { messages, system, temperature, maxTokens };
  const context = { connection: connectionFor(binding, model), signal };
  const speech = createSpeech((delta) => {
    said.push(delta);
    onDelta(delta);
  });
  for await (const piece of piecesOf(binding, request, context)) {
    if ('delta' in piece) {
      speech.say(piece.delta);
      continue;
    }
    if (said.length === 0) speech.say(piece.outcome.text);
    speech.end();
    return piece.outcome;
  }
  throw new UpstreamError('UNAVAILABLE', 'the reply broke off');
}

/**
 * Deltas as they may be kept: within the limit, without NUL (which PostgreSQL's text has not), and never ending between
 * the two halves of one character, where a provider may cut.
 */
function createSpeech(say: (delta: string) => void) {
  let characters = 0;
  let half = '';
  const give = (text: string): void => {
    if (text !== '') say(text.toWellFormed());
  };
  return {
    say(delta: string): void {
      characters += delta.length;
      if (characters > MAX_REPLY) {
        throw new UpstreamError('UNAVAILABLE', 'the reply does not end', { retryable: false });
      }
      const text = half + delta.replaceAll('\0', '');
      half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
      give(text.slice(0, text.length - half.length));
    },
    end: () => give(half),
  };
}

async function* piecesOf(
  { provider }: Binding,
  request: ChatRequest,
  context: { readonly connection: Connection; readonly signal: AbortSignal },
): AsyncIterable<ChatPiece> {
  if (provider.chatStream !== undefined) yield* provider.chatStream(request, context);
  else if (provider.chat !== undefined) yield { outcome: await provider.chat(request, context) };
  else throw new UpstreamError('UNAVAILABLE', `${provider.name} does not talk`);
}

/** As for tasks: with the model that the caller named, else the binding's first that talks. */
function connectionFor(binding: Binding, model: string | null): Connection {
  const { connection } = binding;
  if (connection.model === null) return connection;
  return { ...connection, model: model ?? chatModelOf(binding, null)?.id ?? connection.model };
}
