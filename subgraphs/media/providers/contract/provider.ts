import type { Json, JsonObject } from '../../../../platform/json.ts';
import type { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input.ts';
import type { RequestKind, RequestOf, WorkRequest } from '../../domain/work/request.ts';

/**
 * THE provider contract. A provider speaks one real upstream wire protocol and knows nothing of tasks, tables or files.
 * Capabilities are present or absent, never "not implemented". Handles are opaque JSON, saved by the worker before
 * anything else happens.
 */
export interface Provider {
  /** Folder name: midjourney, openai, ... */
  readonly name: string;
  /** It takes files by their address alone, never as bytes: even the sandbox's stand-in must be given one. */
  readonly fetchesInputs?: boolean;
  /** Long work, by kind: started, then asked for. */
  readonly jobs?: { readonly [Kind in RequestKind]?: JobCapability<RequestOf<Kind>> };
  /** Short work, by kind: one call that answers with the outcome. */
  readonly calls?: { readonly [Kind in RequestKind]?: CallCapability<RequestOf<Kind>> };
  /** Chat, answered at once. */
  readonly chat?: (request: ChatRequest, context: CallContext) => Promise<ChatOutcome>;
  /** The same chat, word by word: any number of deltas, then one last piece with the outcome, whose text is their concatenation. */
  readonly chatStream?: (request: ChatRequest, context: CallContext) => AsyncIterable<ChatPiece>;
  /** The voices this account has. */
  readonly voices?: (context: CallContext) => Promise<VoiceList>;
  /** Hands a file to the provider's own storage, for later work there. */
  readonly upload?: (request: UploadRequest, context: CallContext) => Promise<UploadedFile>;
  /**
   * Whether a notice is signed by the upstream. Present where the vendor signs; without it a notice is taken for a hint
   * as it is, because its address can't be guessed.
   */
  readonly verifyWebhook?: (notice: ProviderWebhook, context: CallContext) => Promise<boolean>;
  /**
   * What a notice is answered with at once, where the vendor tries an address before it uses it (a challenge to be
   * echoed); null for a notice that tells something.
   */
  readonly answerChallenge?: (notice: ProviderWebhook) => JsonObject | null;
  /** The machines behind this binding and how busy they are; those that do not answer are left out. */
  readonly nodes?: (context: CallContext) => Promise<readonly NodeLoad[]>;
}

/** What a streamed reply consists of: pieces of text, and at last the whole. */
export type ChatPiece = { readonly delta: string } | { readonly outcome: ChatOutcome };

/** The voices an account can speak with. */
export interface VoiceList {
  readonly voices: readonly {
    readonly id: string;
    readonly name: string;
    readonly language: string | null;
    readonly cloned: boolean;
  }[];
  /** The provider's own answer, for callers who know it. */
  readonly answer: Json;
}

/** A file for the provider's own storage. */
export interface UploadRequest {
  readonly file: InputFile;
  readonly purpose: 'voice-sample' | 'analysis' | 'lip-sync';
}

/** A file in a provider's own storage. */
export interface UploadedFile {
  readonly id: string;
  /** Address within the provider's storage, where it has one; no secret. */
  readonly uri: string | null;
  readonly expiresAt: Date | null;
  /** The provider's own answer, for callers who know it. */
  readonly answer: Json;
}

/** One machine of a pool. */
export interface NodeLoad {
  /** Its base URL without credentials, as callers may name it. */
  readonly node: string;
  readonly running: number;
  readonly pending: number;
  /** Most jobs it should hold. */
  readonly capacity: number;
}

/** Work that is started, asked about, and fetched when it has ended. */
export interface JobCapability<Request extends WorkRequest = WorkRequest> {
  /** Starts the work once. `reference` goes into the wire's own field. Throws UpstreamError; `startUnknown` says the start may have happened. */
  start(request: Request, context: StartContext): Promise<Handle>;
  /** Asks whether a start with this reference happened. Present where the wire can be asked. */
  find?(reference: string, context: CallContext): Promise<Handle | 'absent' | 'unknowable'>;
  /** Where the work stands. Unknown state words mean running, never failed. */
  status(handle: Handle, context: CallContext): Promise<JobStatus>;
  /** Asks the upstream to stop. Present where the wire has it. */
  cancel?(handle: Handle, context: CallContext): Promise<'cancelled' | 'too-late'>;
  /** Pause between status calls in milliseconds. */
  readonly pollMs: number;
  /**
   * Follows the job where the upstream streams progress, until it ends or the signal is aborted. Only a hint: what it
   * reports is shown, and at its end the job is asked by `status`, which stays the truth.
   */
  watch?(handle: Handle, context: CallContext, report: (progress: WatchedProgress) => void): Promise<void>;
}

/** How far streamed progress says the work is. */
export interface WatchedProgress {
  /** 0 to 100. */
  readonly progress: number;
  readonly stage: string;
}

/** Work that is answered on the spot. */
export interface CallCapability<Request extends WorkRequest = WorkRequest> {
  /** Does the work and answers with the outcome. */
  call(request: Request, context: StartContext): Promise<Outcome>;
}

/** Whatever the provider needs to ask again; stored as jsonb, never shown to callers, free of credentials. */
export type Handle = JsonObject;

/** One binding as its provider sees it: where and as whom to call. */
export interface Connection {
  readonly baseUrl: string;
  /** Prepended to every path; aggregators re-expose vendor paths under one. */
  readonly pathPrefix: string;
  /** Complete header set of the binding (credentials included): never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** Secrets for wires that sign by themselves (Kling, Volcengine). */
  readonly credentials: Readonly<Record<string, string>>;
  readonly model: string | null;
  /** Base URLs of the machines of a pool (ComfyUI); empty for every other wire. `baseUrl` is then the first of them. */
  readonly nodes: readonly string[];
  /** Base URLs of the account's other services (volcengine: `vod`; fal: `rest`), where a wire has several. */
  readonly endpoints?: Readonly<Record<string, string>>;
  /** Origins whose result URLs may be fetched though they are not public. The base URL's own is always among them. */
  readonly resultOrigins: readonly string[];
}

/** Where a call goes, and until when it is wanted. */
export interface CallContext {
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

/** A start besides: `reference` names it for good, so that it can be found again. */
export interface StartContext extends CallContext {
  readonly reference: string;
  /**
   * Where the upstream may tell that something happened, for the wire's own field; absent when it could not reach us.
   * A notice is only a hint to ask at once: `status` stays the truth.
   */
  readonly webhookUrl?: string;
}

/** A notice as it came in. */
export interface ProviderWebhook {
  /** Names in lower case; of a repeated header the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A conversation to be continued; its messages are checked. */
export interface ChatRequest {
  readonly messages: Json;
  readonly system: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
}

/** What the model said, and which model it was. */
export interface ChatOutcome {
  readonly text: string;
  readonly model: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** Where a job stands. */
export type JobStatus =
  | { readonly state: 'queued'; readonly position?: number; readonly stage?: string }
  | {
      readonly state: 'running';
      /** 0 to 100, or null when the upstream does not say (the worker then estimates and labels it). */
      readonly progress: number | null;
      readonly stage?: string;
      /** What can be shown already. */
      readonly partial?: readonly RemoteFile[];
    }
  | { readonly state: 'finished'; readonly outcome: Outcome }
  | { readonly state: 'failed'; readonly error: UpstreamError };

/** What came of the work. */
export interface Outcome {
  readonly files: readonly RemoteFile[];
  readonly texts: readonly string[];
  /**
   * Facts of the typed results: VOICE_CLONE `{ voiceId, name, language }` (its demo is the first file, when there is
   * one); ANALYSIS `{ model, usage: { inputTokens, outputTokens } }`; CHARACTER `{ characterId }`; PERSON_DETECTION
   * `{ hasPerson, reason, subjects }` (null and a reason where it can't be known); AVATAR_SOURCE `{ videoId }`; AVATAR
   * `{ digitalId }`.
   */
  readonly facts?: JsonObject;
}

/** A result still at the upstream (fetched at once, with these headers to its own origin only), or its bytes. */
export type RemoteFile =
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly content: Uint8Array; readonly contentType: string };
