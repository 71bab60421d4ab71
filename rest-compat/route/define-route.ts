import type { Rule } from '../../platform/access/policy.ts';
import type { AppErrorCode } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Immutable, Operation } from '../documents/graphql.ts';
import type { Params, Values } from './param.ts';
import type { Head, RateClass, ReplyContext, RequestFacts, Route, RouteFacts } from './route.ts';

/** Builders of table entries. They check parameters, variables and reply of an operation against its GraphQL document. */

/** Of a route without inputs. */
type NoParams = Readonly<Record<string, never>>;

interface Spec<P extends Params> extends RouteFacts {
  /** None when absent. */
  readonly params?: P;
  /** When absent: `read` for GET; of another method `start` or `write`, by the document's root field. */
  readonly rateClass?: RateClass;
}

interface DocumentSpec<Raw, P extends Params, Data = Immutable<Raw>> extends Spec<P> {
  /** Only to tighten: the rule of the document's root field holds in any case. */
  readonly rule?: Rule;
  /**
   * Makes the operation synchronous: the task of the document's one root field is waited for, then read again, before `reply`
   * sees it. `maxWait` names the parameter with the caller's own limit in seconds.
   */
  readonly wait?: { readonly maxWait?: keyof P & string };
  /**
   * The body: on the media service all of it, on the workflow service `{ message, data }` (done). A thrown AppError becomes
   * the envelope of its code.
   */
  readonly reply: (data: Data, context: ReplyContext<Values<P>>) => object;
  /** Status and headers, where they are not those of a plain success. */
  readonly head?: (data: Data, context: ReplyContext<Values<P>>) => Head;
  /** Error codes of the schema that are an ordinary reply here. */
  readonly errorReplies?: Partial<Record<AppErrorCode, (context: ReplyContext<Values<P>>) => object>>;
}

interface RouteSpec<Data, Variables, P extends Params> extends DocumentSpec<Data, P> {
  readonly variables: (input: Values<P>, json: JsonObject, request: RequestFacts) => Immutable<Variables>;
}

interface TwoStepSpec<Found, FirstVariables, Data, Variables, P extends Params> extends DocumentSpec<
  Data,
  P
> {
  /** Variables of the first document; null when it is not needed. */
  readonly first: (input: Values<P>, request: RequestFacts) => Immutable<FirstVariables> | null;
  /** `found` is the data of the first document; null when it was not run. Throws to refuse the request. */
  readonly variables: (input: Values<P>, found: Immutable<Found> | null) => Immutable<Variables>;
}

interface LocalRouteSpec<P extends Params> extends Spec<P> {
  /** There is no document to inherit a rule from. */
  readonly rule: Rule;
  readonly reply: (data: null, context: ReplyContext<Values<P>>) => object;
}

/**
 * Ties one GraphQL operation to one REST path. Curried, so that the operation's types are fixed before the path's
 * parameters are inferred; in one call TypeScript widens literals.
 */
export function route<Data, Variables extends object>(document: Operation<Data, Variables>) {
  return function at<P extends Params = NoParams>(spec: RouteSpec<Data, Variables, P>): Route {
    return {
      ...withDefaults(spec),
      document,
      variables: (input, json, _, request) => spec.variables(input, json, request),
    };
  };
}

/** Ties two GraphQL operations to one REST path: the data of the first decides the variables of the second. */
export function twoStepRoute<Found, FirstVariables extends object, Data, Variables extends object>(
  first: Operation<Found, FirstVariables>,
  document: Operation<Data, Variables>,
) {
  return function at<P extends Params = NoParams>(
    spec: TwoStepSpec<Found, FirstVariables, Data, Variables, P>,
  ): Route {
    return {
      ...withDefaults(spec),
      document,
      first: { document: first, variables: spec.first },
      variables: (input, _, found) => spec.variables(input, found),
    };
  };
}

/** A path that runs no GraphQL operation beyond storing its file parts. */
export function localRoute<P extends Params = NoParams>(spec: LocalRouteSpec<P>): Route {
  return { ...withDefaults(spec), document: null, variables: () => ({}) };
}

function withDefaults<S extends Spec<Params>>(spec: S) {
  return { params: {}, ...spec } as const;
}
