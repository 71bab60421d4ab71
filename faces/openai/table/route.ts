import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { DocumentNode } from 'graphql';

import type { AuthMode } from '../../../platform/access/policy.ts';
import type {
  GraphqlExecutor,
  RequestContext,
  StreamPermit,
} from '../../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Method, RateClass } from '../../../rest-compat/route/route.ts';
import type { BatchStore } from '../batch-store/store.ts';
import type { FaceModel } from '../documents/models.ts';

/** One operation of OpenAI's API as a line of a table: what counts it, which documents it runs, how it answers. */
export interface FaceRoute {
  readonly method: Method;
  /** Below the prefix; parameters are written `{name}`. */
  readonly path: string;
  /** What it does, in a sentence. */
  readonly summary: string;
  readonly rateClass: RateClass;
  /** Every GraphQL document that it may run: they must fit the schema. */
  readonly documents: readonly DocumentNode[];
  /** Answers one call. Throws AppError, TaskFailed or ClientDisconnected. */
  readonly run: (call: FaceCall) => Promise<FaceAnswer>;
}

/** What every call works with. */
export interface FaceParts {
  readonly executor: GraphqlExecutor;
  readonly models: ModelFinder;
  /** Opens a file of ours by the path and query of its address; null where there is none. */
  readonly openFile: (address: string) => Promise<Readable | null>;
  /** Answers a request for a file, whose `url` is its address. */
  readonly serveFile: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly settings: FaceSettings;
  /** Where batches are kept, and what begins to run a new one; null without a database. */
  readonly batches: { readonly store: BatchStore; readonly wake: () => void } | null;
  /** Tells the operator's webhook endpoints of an event; the same id again is told once. Absent where there are none. */
  readonly publishEvent?: ((event: FaceNotice) => Promise<void>) | undefined;
  /** Aborted when nothing is waited for any longer, because the server stops. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

/** What webhook endpoints receive. */
export interface FaceNotice {
  readonly id: string;
  /** As `batch.completed`. */
  readonly type: string;
  readonly at: Date;
  readonly data: { readonly id: string };
}

/** Finds the model of ours that a caller names: by its id, `generator:model`, a generator alone, or an alias of the settings. */
export interface ModelFinder {
  /** A model that does this kind of work. Throws ModelNotFound. Without a name: the usual one of that kind. */
  find(kind: string, name: string | undefined, context: RequestContext): Promise<FaceModel>;
  /** Every model, the preferred generator of each first. */
  list(context: RequestContext): Promise<readonly FaceModel[]>;
}

/** The settings of the face. */
interface FaceSettings {
  /** Begins every path: /v1 (OPENAI_FACE_PREFIX). */
  readonly prefix: string;
  /** Names that callers use -> models of ours (OPENAI_MODEL_ALIASES). */
  readonly aliases: ReadonlyMap<string, string>;
  /** Seconds that a synchronous call waits before it answers 202 (OPENAI_WAIT_SECONDS). */
  readonly waitSeconds: number;
  /** Whether chats of batches go at their vendor's half price where there is one (OPENAI_BATCH_FLEX). */
  readonly batchFlex: boolean;
  /** What callers without a credential may do (REST_AUTH). */
  readonly authMode: AuthMode;
  /** Largest file part in bytes (UPLOAD_MAX_BYTES). */
  readonly uploadMaxBytes: number;
  /** Address that callers use, without a trailing slash (PUBLIC_URL). */
  readonly publicUrl: string;
}

/** One call, whose route is known. */
export interface FaceCall extends FaceParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  /** Decoded. */
  readonly pathParams: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** One answer: JSON, bytes, events, or what was sent already. */
export type FaceAnswer =
  | { readonly status?: number; readonly headers?: Headers; readonly body: object }
  | { readonly headers?: Headers; readonly contentType: string; readonly stream: Readable }
  | {
      readonly headers?: Headers;
      /** Reserved before anything was started. */
      readonly permit: StreamPermit;
      readonly events: AsyncIterable<FaceEvent>;
    }
  | 'sent';

/** One event of a stream; chats have none of the names. */
export interface FaceEvent {
  readonly name?: string;
  readonly data: object | '[DONE]';
}

type Headers = Readonly<Record<string, string>>;

/** A moment of the graph as OpenAI writes it: whole seconds since 1970. */
export function toSeconds(moment: string): number {
  return Math.floor(Date.parse(moment) / 1_000);
}
