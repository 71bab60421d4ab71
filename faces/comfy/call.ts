import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { DocumentNode } from 'graphql';

import type { GraphqlExecutor, RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { readJsonBody } from '../../rest-compat/request/body/json.ts';
import type { Method, RateClass } from '../../rest-compat/route/route.ts';

/** Where Comfy's API v2 is; its clients put it behind their base address. */
export const COMFY_PREFIX = '/api/v2';

/** One operation of Comfy's API v2 as a line of a table. */
export interface ComfyRoute {
  readonly method: Method;
  /** Below the prefix; parameters are written `{name}`. */
  readonly path: string;
  /** What it does, in a sentence. */
  readonly summary: string;
  readonly rateClass: RateClass;
  /** Every GraphQL document that it may run: they must fit the schema. */
  readonly documents: readonly DocumentNode[];
  /** Answers one call. Throws AppError, ComfyRefusal or ClientDisconnected. */
  readonly run: (call: ComfyCall) => Promise<ComfyAnswer>;
}

/** What every call works with. */
export interface ComfyParts {
  readonly executor: GraphqlExecutor;
  /** Answers a request for a file, whose `url` is its address. */
  readonly serveFile: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Opens a file by its address; null when it is gone. */
  readonly openFile: (address: string) => Promise<Readable | null>;
  readonly settings: ComfySettings;
  /** Aborted when streams are ended, because the server stops. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

interface ComfySettings {
  /** Address that callers use, without a trailing slash (PUBLIC_URL). */
  readonly publicUrl: string;
  /** Largest file part in bytes (UPLOAD_MAX_BYTES). */
  readonly uploadMaxBytes: number;
  /** Seconds that addresses of files stay valid (FILES_URL_TTL); 0: forever. */
  readonly urlTtlSeconds: number;
  /** Days that ended tasks are kept (TASK_RETENTION_DAYS); 0: forever. */
  readonly taskRetentionDays: number;
}

/** One call, whose route is known. */
export interface ComfyCall extends ComfyParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  /** Decoded. */
  readonly pathParams: Readonly<Record<string, string>>;
}

/** One answer: JSON, nothing, a text, events, or what was sent already. */
export type ComfyAnswer =
  | { readonly status?: number; readonly headers?: Headers; readonly body: object }
  | { readonly status: 204 }
  | { readonly text: string }
  | { readonly events: (stop: AbortSignal) => AsyncIterable<ComfyEvent> }
  | 'sent';

type Headers = Readonly<Record<string, string>>;

/** One event of a job. */
export interface ComfyEvent {
  readonly name: 'status' | 'progress' | 'preview' | 'output' | 'log';
  readonly data: object;
  /** What `Last-Event-ID` goes on after; only the last event of an entry of the log has it, so that none is left out. */
  readonly id?: number;
}

/** A refusal that the graph has no code for. */
export class ComfyRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object | null;

  constructor(status: number, code: string, message: string, details: object | null = null) {
    super(message);
    this.name = 'ComfyRefusal';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** Reads a JSON object. Throws ComfyRefusal, PAYLOAD_TOO_LARGE, MalformedBody or ClientDisconnected. */
export async function readJson({ request }: Pick<ComfyCall, 'request'>): Promise<JsonObject> {
  const body = await readJsonBody(request, { isRequired: true });
  if ('object' in body) return body.object;
  throw new ComfyRefusal(422, 'invalid_request', `the body must be a JSON object: ${body.problem.msg}`);
}
