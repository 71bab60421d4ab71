import type { Problem } from '../../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../../platform/json.ts';
import type { ChatOptions, ChatToolCall } from '../../domain/chat-options.ts';
import type { Units } from '../../domain/cost.ts';
import type { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { ModelWire } from '../../domain/inputs/model-limits.ts';
import type { OptionsSchema } from '../../domain/inputs/vendor-options/schema.ts';
import type { StageWords } from '../../domain/words/stages.ts';
import type { RequestKind, RequestOf, WorkRequest } from '../../domain/work/request.ts';
import type { StepInput } from '../../domain/work/work.ts';

/**
 * The provider contract. A provider implements one real upstream wire protocol and knows nothing of tasks, tables or
 * files. Capabilities are present or absent, never "not implemented". Handles are opaque JSON, saved by the worker
 * before anything else happens.
 */
export interface Provider {
  /** Folder name: midjourney, openai, ... */
  readonly name: string;
  /** Whether it accepts files only by URL, never as bytes: even the sandbox's stand-in must get a URL. */
  readonly fetchesInputs?: boolean;
  /** What this wire would refuse of work, besides the limits of its models; read before the work is accepted. */
  readonly inputProblems?: (work: StepInput, connection: Connection) => readonly Problem[];
  /**
   * What no machine of a binding has of all that work needs, read before the work is accepted; none when one has everything, or
   * when that can't be known now. Absent: nothing is installed for work.
   */
  readonly missing?: (work: StepInput<unknown>, context: CallContext) => Promise<readonly Problem[]>;
  /** Asynchronous work, by kind: started, then polled. */
  readonly jobs?: { readonly [Kind in RequestKind]?: JobCapability<RequestOf<Kind>> };
  /** Synchronous work, by kind: one call that returns the outcome. */
  readonly calls?: { readonly [Kind in RequestKind]?: CallCapability<RequestOf<Kind>> };
  /** Work in batches of the vendor, at half the price and within a day; absent: the wire has none. */
  readonly batches?: VendorBatches;
  /** Chat, answered as a whole. */
  readonly chat?: (request: ChatRequest, context: CallContext) => Promise<ChatOutcome>;
  /**
   * The same chat, streamed: any number of deltas, then one last item with the outcome, whose text is their
   * concatenation.
   */
  readonly chatStream?: (request: ChatRequest, context: CallContext) => AsyncIterable<ChatPiece>;
  /** The voices this account has. */
  readonly voices?: (context: CallContext) => Promise<VoiceList>;
  /** Uploads a file to the provider's own storage, for later work there. */
  readonly upload?: (request: UploadRequest, context: CallContext) => Promise<UploadedFile>;
  /**
   * Verifies the signature of a webhook. Present where the vendor signs; without it every webhook is accepted, because
   * its URL can't be guessed and it only triggers a poll.
   */
  readonly verifyWebhook?: (webhook: ProviderWebhook, context: CallContext) => Promise<boolean>;
  /** The reply to a challenge, where the vendor checks a URL before using it; null for any other webhook. */
  readonly answerChallenge?: (webhook: ProviderWebhook) => JsonObject | null;
  /** What its vendor publishes of a model, for any model there; null: there is none of this name. */
  readonly describeModel?: (name: string, context: CallContext) => Promise<VendorModel | null>;
  /** Names of models there that fit some words, best first; present with `describeModel`. */
  readonly findModels?: (words: string, context: CallContext) => Promise<readonly NamedModel[]>;
  /** The machines of this binding and their load; those that do not answer are left out. */
  readonly nodes?: (context: CallContext) => Promise<readonly NodeLoad[]>;
  /** What the machine at this base URL is and has. Throws UpstreamError when it does not answer. */
  readonly machine?: (context: CallContext) => Promise<MachineFacts>;
}

interface VendorBatches {
  /** By kind: each attempt is a job of its own, whatever batch it is a part of. */
  readonly jobs: NonNullable<Provider['jobs']>;
  /** Whether the server at this base URL has them at half the price. */
  readonly isAt: (baseUrl: string) => boolean;
}

/** A model as its vendor describes it. */
export interface VendorModel {
  /** Name for people. */
  readonly name: string;
  /** The published document. */
  readonly document: unknown;
  /** JSON Schema of what it takes, and of what it makes; references are to the document. */
  readonly input: unknown;
  readonly output: unknown;
  /** What it has made once, where the vendor shows it. */
  readonly example: unknown;
  /** The version to run, where it is not run by its name. */
  readonly version?: string;
  /** Where the description is from. */
  readonly source: string;
}

/** A model as its vendor lists it. */
export interface NamedModel {
  /** Its name there. */
  readonly model: string;
  /** Name for people. */
  readonly name: string;
  /** What it does, in the words of its vendor; null: it says nothing. */
  readonly description: string | null;
}

/** One item of a streamed reply: a piece of text, or the whole reply at the end. */
export type ChatPiece = { readonly delta: string } | { readonly outcome: ChatOutcome };

/** The voices an account can speak with. */
export interface VoiceList {
  readonly voices: readonly {
    readonly id: string;
    readonly name: string;
    readonly language: string | null;
    readonly cloned: boolean;
  }[];
  /** The provider's original answer. */
  readonly answer: Json;
}

/** A file to upload to the provider's own storage. */
export interface UploadRequest {
  readonly file: InputFile;
  readonly purpose: 'voice-sample' | 'analysis' | 'lip-sync';
}

/** A file in a provider's own storage. */
export interface UploadedFile {
  readonly id: string;
  /** URI within the provider's storage, where it has one; no secret. */
  readonly uri: string | null;
  readonly expiresAt: Date | null;
  /** The provider's original answer. */
  readonly answer: Json;
}

/** One machine of a pool. */
export interface NodeLoad {
  /** Its base URL without credentials, as shown to callers. */
  readonly node: string;
  readonly running: number;
  readonly pending: number;
  /** Most jobs it should hold at a time. */
  readonly capacity: number;
}

/** What a machine of a pool is and has. */
export interface MachineFacts {
  /** Name of a program -> its version. */
  readonly versions: Readonly<Record<string, string>>;
  readonly devices: readonly {
    readonly name: string;
    readonly type: string;
    /** Bytes of its memory; null: it does not tell. */
    readonly totalBytes: number | null;
    readonly freeBytes: number | null;
  }[];
  readonly classes: readonly string[];
  /** Model files by the node class that loads them. */
  readonly models: readonly { readonly loader: string; readonly files: readonly string[] }[];
  /** Models of its last graph that had some. */
  readonly loaded: readonly string[];
  /** Its last failures, newest first. */
  readonly errors: readonly {
    readonly at: Date | null;
    readonly node: string | null;
    readonly message: string;
  }[];
}

/** Asynchronous work: started, polled, and downloaded when it has ended. */
export interface JobCapability<Request extends WorkRequest = WorkRequest> {
  /**
   * Starts the work once. `reference` goes into the wire's own field. Throws UpstreamError; `startUnknown` says that it
   * may have started.
   */
  start(request: Request, context: StartContext): Promise<Handle>;
  /** Looks for a start with this reference. Present where the wire supports it. */
  find?(reference: string, context: CallContext): Promise<Handle | 'absent' | 'unknowable'>;
  /** The status of the work. Unknown states mean running, never failed. */
  status(handle: Handle, context: CallContext): Promise<JobStatus>;
  /** Cancels the work. Present where the wire supports it. */
  cancel?(handle: Handle, context: CallContext): Promise<'cancelled' | 'too-late'>;
  /** Deletes what the upstream keeps of work that has ended; nothing when it keeps none. Present where the wire supports it. */
  erase?(handle: Handle, context: CallContext): Promise<void>;
  /** Milliseconds between status requests. */
  readonly pollMs: number;
  /** The member of the handle that attempts have in common which run as one; they are cancelled together. Absent: each runs alone. */
  readonly sharedBy?: string;
  /**
   * Watches the job where the upstream streams progress, until it ends or the signal is aborted. Reported progress is
   * only shown; the job's state comes from `status`.
   */
  watch?(handle: Handle, context: CallContext, report: (progress: WatchedProgress) => void): Promise<void>;
}

/** Progress of work that is still going on. */
export interface WatchedProgress {
  /** 0 to 100. */
  readonly progress: number;
  readonly stage: StageWords;
  /** What there is of an image so far; shown to whoever follows the task. */
  readonly image?: Buffer;
}

/** Synchronous work. */
export interface CallCapability<Request extends WorkRequest = WorkRequest> {
  /** Does the work and returns the outcome. An aborted signal is a cancelled task, or a process that stops. */
  call(request: Request, context: CallStartContext): Promise<Outcome>;
}

/** The context of synchronous work. */
export interface CallStartContext extends StartContext {
  /** Shows progress, where the upstream tells it while the call is open; absent where nobody looks. */
  readonly report?: (progress: WatchedProgress) => void | Promise<void>;
}

/**
 * What the provider needs for later requests about the work; stored as jsonb, never shown to callers, free of
 * credentials.
 */
export type Handle = JsonObject;

/** One binding as its provider sees it: URLs and credentials. */
export interface Connection {
  readonly baseUrl: string;
  /** Prepended to every path; aggregators offer vendor paths under a prefix. */
  readonly pathPrefix: string;
  /** All headers of the binding, credentials included: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** Keys for wires that sign requests (Kling, Volcengine). */
  readonly credentials: Readonly<Record<string, string>>;
  readonly model: string | null;
  /** The model's own fields, where the catalog or the vendor has told them. */
  readonly wire?: ModelWire;
  /** What the model takes besides, where that is known: a value of ours is sent only where it is among its own. */
  readonly options?: OptionsSchema;
  /** Base URLs of the machines of a pool (ComfyUI); empty for other wires. `baseUrl` is the first of them. */
  readonly nodes: readonly string[];
  /** Those of them that an administrator gives no new work, and how: the waiting jobs of a paused one go elsewhere. Absent: none. */
  readonly closedNodes?: () => ReadonlyMap<string, ClosedNode>;
  /** Base URLs of the account's other services (volcengine: `vod`; fal: `rest` and `schema`), where a wire has several. */
  readonly endpoints?: Readonly<Record<string, string>>;
  /** Origins whose result URLs may be fetched though they are not public. The base URL's own is always among them. */
  readonly resultOrigins: readonly string[];
  /** Most milliseconds of a call that makes the result itself; absent: as long as the wire usually takes. */
  readonly callTimeoutMs?: number;
}

/** Why a machine gets no new work: `draining` finishes what waits there, `paused` only what runs. */
export type ClosedNode = 'draining' | 'paused';

/** The connection of a call, and the signal that aborts it. */
export interface CallContext {
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

/** The context of a start: `reference` identifies it, so that it can be found again. */
export interface StartContext extends CallContext {
  readonly reference: string;
  /**
   * URL for the upstream's webhooks; absent when the upstream could not reach us. A webhook only triggers a poll: the
   * state comes from `status`.
   */
  readonly webhookUrl?: string;
  /** Whether the start is still ours: to be asked by a wire that does something before it sends the start. */
  readonly confirm?: () => Promise<boolean>;
}

/** A provider webhook as received. */
export interface ProviderWebhook {
  /** Names in lower case; the last value of a repeated header. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A conversation to continue; its messages are validated. */
export interface ChatRequest extends Partial<ChatOptions> {
  /** In OpenAI's format: role, content (a text or parts), `tool_calls` of an answer, `tool_call_id` of a result. */
  readonly messages: Json;
  readonly system: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
}

/** The model's reply, and its name. */
export interface ChatOutcome {
  readonly text: string;
  /** Calls of the caller's tools; absent when there are none. */
  readonly toolCalls?: readonly ChatToolCall[];
  /** Images that it made beside its text, in order; absent when there are none. */
  readonly files?: readonly RemoteFile[];
  readonly model: string;
  readonly usage: {
    /** Cached ones included. */
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Of the output tokens those that made `files`: they are charged as images. */
    readonly imageTokens?: number | undefined;
    /** Of the input tokens those that the provider had cached, where it says so. */
    readonly cachedTokens?: number | undefined;
  };
}

/** The status of a job. */
export type JobStatus =
  | {
      readonly state: 'queued';
      /** Its place in the provider's line (1 = next), where that is known. */
      readonly position?: number;
      /** What it does where it waits in no line. */
      readonly stage?: Exclude<StageWords, `queued upstream${string}`>;
    }
  | {
      readonly state: 'running';
      /**
       * 0 to 100, or null when the upstream does not report it (the worker then estimates and marks it as estimated).
       */
      readonly progress: number | null;
      readonly stage?: StageWords;
      /** Previews to show meanwhile. */
      readonly partial?: readonly RemoteFile[];
    }
  | { readonly state: 'finished'; readonly outcome: Outcome }
  | { readonly state: 'failed'; readonly error: UpstreamError };

/** The outcome of the work. */
export interface Outcome {
  readonly files: readonly RemoteFile[];
  readonly texts: readonly string[];
  /**
   * Values of the typed results: VOICE_CLONE `{ voiceId, name, language }` (its demo is the first file, when there is
   * one); ANALYSIS `{ model, usage: { inputTokens, outputTokens } }`; CHARACTER `{ characterId }`; PERSON_DETECTION `{
   * hasPerson, reason, subjects }` (null and a reason when unknown); AVATAR_SOURCE `{ videoId }`; AVATAR `{ digitalId
   * }`; COMFY_WORKFLOW `{ fileNodes, textNodes }`, the node of each file and text.
   */
  readonly facts?: JsonObject;
  /** What the upstream says that it took. */
  readonly units?: Units;
}

/** A result file still at the upstream (downloaded at once; these headers go to its own origin only), or its bytes. */
export type RemoteFile =
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly content: Uint8Array; readonly contentType: string };
