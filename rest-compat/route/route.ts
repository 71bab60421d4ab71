import type { IncomingHttpHeaders } from 'node:http';

import type { DocumentNode } from 'graphql';

import type { Rule } from '../../platform/access/policy.ts';
import type { AppErrorCode } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Immutable, Operation } from '../documents/graphql.ts';
import type { mediaSchemas } from '../schemas/media.ts';
import type { JsonSchema } from '../schemas/types.ts';
import type { workflowSchemas } from '../schemas/workflow.ts';
import type { Params, Values } from './params.ts';

/**
 * One REST operation told as data: what it reads, which GraphQL document it runs, what it answers. The router, the
 * OpenAPI documents and the documented-operations test are all derived from these tables.
 */

/** The methods of the documented paths. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Which rate limit counts a request: polling of one task, other reads, or everything that starts or changes something. */
export type RateClass = 'status' | 'read' | 'start';

/**
 * The body an operation documents. The two form types are interchangeable when read; `raw` is kept as its bytes, which are
 * signed, whatever its content type says.
 */
export interface BodySpec {
  readonly type: 'application/json' | 'multipart/form-data' | 'application/x-www-form-urlencoded' | 'raw';
  readonly required: boolean;
  /** JSON only: fields beyond the named ones are kept, and handed to `variables` as `json`. */
  readonly additionalProperties?: true;
  /** Groups of fields of which one is needed. Of several the first is used, with a note in msg. */
  readonly oneOf?: readonly (readonly string[])[];
  /** The same without the need: groups of fields of which at most one is used. */
  readonly atMostOneOf?: readonly (readonly string[])[];
}

/** A named schema of one of the OpenAPI documents. */
export type AnswerName = keyof typeof mediaSchemas | keyof typeof workflowSchemas;

/** What replies may depend on besides data and input. */
export interface RestSettings {
  /** Seconds that a synchronous operation waits when the caller names no ceiling (SYNC_MAX_WAIT). */
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
  /** What stands behind the path, without the question mark, as it was sent. */
  readonly rawQuery: string;
  /** The body of an operation that documents a raw one; empty otherwise. */
  readonly rawBody: Buffer;
}

/** What an answer has besides its body. */
interface Head {
  /** 200 when absent. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface ReplyContext<Input> {
  readonly input: Input;
  readonly request: RequestFacts;
  readonly settings: RestSettings;
}

/** What `route` and `localRoute` have in common. */
interface RouteBase<P extends Params> {
  readonly method: Method;
  /** Path parameters are written `{name}`. */
  readonly path: string;
  /** What it does, in a sentence. Absent where the form of its answer says it (openapi-summaries.ts). */
  readonly summary?: string;
  readonly deprecated?: true;
  /** Not in the documents: added by us. */
  readonly extension?: true;
  readonly params: P;
  readonly body?: BodySpec;
  readonly rateClass: RateClass;
  /** OpenAPI component of the whole answer: always on the media service, of bare ones on the workflow service. */
  readonly answers?: AnswerName;
  /** Workflow service: what `data` of a success holds; absent where there is none. */
  readonly data?: JsonSchema;
  /** The documented answer is a redirect (302), which `head` makes. */
  readonly redirects?: true;
  /** `head` may make a redirect of success. */
  readonly mayRedirect?: true;
  /** The request carries its proof itself: a credential beside it plays no part, not even one that has ended. */
  readonly isOwnProof?: true;
  /** The reply is the whole body, without the workflow service's envelope. */
  readonly isBare?: true;
  /** What fields of the schema are called here, where a refusal names one. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Request headers that it reads itself. */
  readonly requestHeaders?: readonly { readonly name: string; readonly description: string }[];
  /** Headers of every answer, refusals included. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The part of a route that asks its one document. */
interface AskingSpec<Raw, P extends Params, Data = Immutable<Raw>> extends RouteBase<P> {
  /** Only to tighten: the rule of the document's root field holds in any case. */
  readonly rule?: Rule;
  /**
   * Makes the operation synchronous: the task under this key of the data is waited for on its own events, then read
   * again, before `reply` sees it. `ceiling` names the parameter with the caller's own limit in seconds.
   */
  readonly wait?: { readonly task: keyof Data & string; readonly ceiling?: keyof P & string };
  /**
   * The answer: on the media service the whole body, on the workflow service `{ message, data }` (done). A thrown AppError
   * becomes the envelope of its code.
   */
  readonly reply: (data: Data, context: ReplyContext<Values<P>>) => object;
  /** Status and headers, where they are not those of a plain success. */
  readonly head?: (data: Data, context: ReplyContext<Values<P>>) => Head;
  /** Codes of the schema's refusals that are an answer here, not a failure. */
  readonly refusals?: Partial<Record<AppErrorCode, (context: ReplyContext<Values<P>>) => object>>;
}

interface RouteSpec<Data, Variables, P extends Params> extends AskingSpec<Data, P> {
  readonly variables: (input: Values<P>, json: JsonObject, request: RequestFacts) => Immutable<Variables>;
}

interface TwoStepSpec<Found, FirstVariables, Data, Variables, P extends Params> extends AskingSpec<Data, P> {
  /** Variables of the document that is asked first; null when it is not needed. */
  readonly first: (input: Values<P>, request: RequestFacts) => Immutable<FirstVariables> | null;
  /** `found` is what the first one answered; null when it was not asked. Throws to refuse. */
  readonly variables: (input: Values<P>, found: Immutable<Found> | null) => Immutable<Variables>;
}

/** A route that asks nothing of the schema beyond storing its file parts. */
export interface LocalRouteSpec<P extends Params> extends RouteBase<P> {
  /** There is no document to inherit a rule from. */
  readonly rule: Rule;
  readonly reply: (data: null, context: ReplyContext<Values<P>>) => object;
}

/** A table entry with its types erased: what the router and OpenAPI work with. */
export interface Route extends RouteBase<Params> {
  readonly rule?: Rule;
  readonly asks: DocumentNode | null;
  readonly first?: {
    readonly asks: DocumentNode;
    readonly variables: (input: never, request: RequestFacts) => object | null;
  };
  readonly variables: (input: never, json: JsonObject, found: never, request: RequestFacts) => object;
  readonly wait?: { readonly task: string; readonly ceiling?: string };
  readonly reply: (data: never, context: ReplyContext<never>) => object;
  readonly head?: (data: never, context: ReplyContext<never>) => Head;
  readonly refusals?: Partial<Record<AppErrorCode, (context: ReplyContext<never>) => object>>;
}

/**
 * Ties one GraphQL operation to one REST path. Curried, so that the operation's types are fixed before the path's
 * parameters are inferred; in one call TypeScript widens literals.
 */
export function route<Data, Variables extends object>(asks: Operation<Data, Variables>) {
  return function at<P extends Params>(spec: RouteSpec<Data, Variables, P>): Route {
    return {
      ...spec,
      asks,
      variables: (input, json, _, request) => spec.variables(input, json, request),
    };
  };
}

/** Ties two GraphQL operations to one REST path: what the first one finds decides how the second one is asked. */
export function routeAfter<Found, FirstVariables extends object, Data, Variables extends object>(
  first: Operation<Found, FirstVariables>,
  asks: Operation<Data, Variables>,
) {
  return function at<P extends Params>(spec: TwoStepSpec<Found, FirstVariables, Data, Variables, P>): Route {
    return {
      ...spec,
      asks,
      first: { asks: first, variables: spec.first },
      variables: (input, _, found) => spec.variables(input, found),
    };
  };
}

/** Ties a path to an answer that needs no GraphQL operation of its own. */
export function localRoute<P extends Params>(spec: LocalRouteSpec<P>): Route {
  return { ...spec, asks: null, variables: () => ({}) };
}

/** A documented section: its title (the OpenAPI tag) and its routes. */
export interface Section {
  readonly service: 'media' | 'workflow';
  readonly title: string;
  /** Sign-in answers have a `success` of their own in the workflow service's envelope. */
  readonly envelope?: 'sign-in';
  readonly routes: readonly Route[];
}
