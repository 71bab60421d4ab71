import type { IncomingHttpHeaders } from 'node:http';

import { type DocumentNode, Kind } from 'graphql';

import type { Rule } from '../../platform/access/policy.ts';
import type { AppErrorCode } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { mediaSchemas } from '../schemas/media.ts';
import type { JsonSchema } from '../schemas/openapi-types.ts';
import type { workflowSchemas } from '../schemas/workflow.ts';
import type { Params } from './param.ts';

/**
 * One REST operation as data: what it reads, which GraphQL document it runs, what it replies. The router, the OpenAPI
 * documents and the documented-operations test are all derived from these tables.
 */

/** The methods of the documented paths. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Which rate limit counts a request: polling of one task, other reads, starts of work, other changes, or signing in. */
export type RateClass = 'status' | 'read' | 'start' | 'write' | 'sign-in';

/**
 * The body an operation documents. The two form types are read alike; `raw` keeps the bytes as they are, because they are
 * signed.
 */
export interface BodySpec {
  readonly type: 'application/json' | 'multipart/form-data' | 'application/x-www-form-urlencoded' | 'raw';
  readonly required: boolean;
  /** JSON only: other fields than the declared ones are accepted, and passed to `variables` as `json`. */
  readonly additionalProperties?: true;
  /** Groups of fields of which one is needed. Of several the first is used, with a note in msg. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Groups of optional fields of which at most one is used. */
  readonly atMostOneOf?: readonly (readonly string[])[];
}

/** A named schema of one of the OpenAPI documents. */
export type ResponseSchemaName = keyof typeof mediaSchemas | keyof typeof workflowSchemas;

/** What replies may depend on besides data and input. */
export interface RestSettings {
  /** Seconds that a synchronous operation waits when the caller names no limit (SYNC_MAX_WAIT). */
  readonly syncMaxWaitSeconds: number;
  /** Largest file part in bytes (UPLOAD_MAX_BYTES). */
  readonly uploadMaxBytes: number;
  /** Address that callers use, without a trailing slash (PUBLIC_URL). */
  readonly publicUrl: string;
  /** Version of this server, for `GET /`. */
  readonly version: string;
}

/** What few operations need of a request beyond its parameters. */
export interface RequestFacts {
  readonly headers: IncomingHttpHeaders;
  /** The query string as sent, without the question mark. */
  readonly rawQuery: string;
  /** The body of an operation that documents a raw one; empty otherwise. */
  readonly rawBody: Buffer;
}

/** Status and headers of a response. */
export interface Head {
  /** 200 when absent. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A page or table that is sent instead of the JSON body. */
  readonly page?: string;
  /** `text/html` when absent. */
  readonly pageType?: OtherType;
}

/** What a success may be besides JSON. */
export type OtherType = 'text/html' | 'text/csv';

/** What a reply is made from besides the data of its document. */
export interface ReplyContext<Input> {
  readonly input: Input;
  readonly request: RequestFacts;
  readonly settings: RestSettings;
  /** Names of what was sent and the operation does not read. */
  readonly ignored: readonly string[];
}

/** The facts of an operation that its types do not depend on. */
export interface RouteFacts {
  readonly method: Method;
  /** Path parameters are written `{name}`. */
  readonly path: string;
  /** What it does, in a sentence. Absent where its response schema says it (openapi/summaries.ts). */
  readonly summary?: string;
  readonly deprecated?: true;
  /** Not in the documents: added by us. */
  readonly extension?: true;
  readonly body?: BodySpec;
  /** OpenAPI component of the whole body: always on the media service, of `isBare` ones on the workflow service. */
  readonly responseSchema?: ResponseSchemaName;
  /** Workflow service: the schema of `data`; absent where a success has none. */
  readonly dataSchema?: JsonSchema;
  /** The documented answer is a redirect (302), which `head` makes. */
  readonly redirects?: true;
  /** What `head` may make of a success instead of JSON. */
  readonly otherTypes?: readonly OtherType[];
  /** The page of a refusal, for browsers; null for a request of a program. Absent: there is none. */
  readonly failurePage?: (message: string, request: Pick<RequestFacts, 'headers'>) => string | null;
  /** `head` may make a redirect of success. */
  readonly mayRedirect?: true;
  /** The request proves itself (by a signature, a token in the body): its Authorization is not looked at, even when expired. */
  readonly isSelfAuthenticating?: true;
  /** `variables` reads the whole query string: none of its parameters is passed over. */
  readonly readsRawQuery?: true;
  /** The reply is the whole body, without the workflow service's envelope. */
  readonly isBare?: true;
  /** REST names of the schema's fields, for errors that name one. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Request headers that only this operation reads. */
  readonly requestHeaders?: readonly { readonly name: string; readonly description: string }[];
  /** Headers of every response, errors included. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A table entry with its types erased: what the router and OpenAPI work with. */
export interface Route extends RouteFacts {
  readonly params: Params;
  /** Absent: by the method and the root field (`findRateClass`). */
  readonly rateClass?: RateClass;
  readonly rule?: Rule;
  readonly document: DocumentNode | null;
  readonly first?: {
    readonly document: DocumentNode;
    readonly variables: (input: never, request: RequestFacts) => object | null;
  };
  readonly variables: (input: never, json: JsonObject, found: never, request: RequestFacts) => object;
  readonly wait?: { readonly maxWait?: string };
  readonly reply: (data: never, context: ReplyContext<never>) => object;
  readonly head?: (data: never, context: ReplyContext<never>) => Head;
  readonly errorReplies?: Partial<Record<AppErrorCode, (context: ReplyContext<never>) => object>>;
}

/** A documented section: its title (the OpenAPI tag) and its routes. */
export interface Section {
  readonly service: 'media' | 'workflow';
  readonly title: string;
  /** Sign-in responses have a `success` in the workflow service's envelope. */
  readonly envelope?: 'sign-in';
  readonly routes: readonly Route[];
}

/** Root fields of mutations that are no starts. */
interface CountedFields {
  /** That start no work. */
  readonly writes: readonly string[];
  /** That take or give credentials. */
  readonly signIns: readonly string[];
}

/** The class that counts a route's requests. What starts no work, such as uploads, which have no document, is a write. */
export function findRateClass(
  { rateClass, method, document }: Route,
  { writes, signIns }: CountedFields,
): RateClass {
  if (rateClass !== undefined) return rateClass;
  const fields = (document?.definitions ?? []).flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? definition.selectionSet.selections.flatMap((field) =>
          field.kind === Kind.FIELD ? [field.name.value] : [],
        )
      : [],
  );
  if (fields.some((name) => signIns.includes(name))) return 'sign-in';
  if (method === 'GET') return 'read';
  return fields.every((name) => writes.includes(name)) ? 'write' : 'start';
}
