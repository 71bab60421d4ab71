import type { IncomingMessage } from 'node:http';

import { enforce, enforceScope, type AuthMode } from '../platform/access/policy.ts';
import { AppError } from '../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../platform/graphql/operations/executor.ts';
import type { Logger } from '../platform/process/logger.ts';
import { type TaskFields, TaskById } from './documents/media/task.ts';
import { withSentNames, withRouteNames } from './replies/field-names.ts';
import type { ResponseStyle } from './replies/response-style.ts';
import { runDocument } from './replies/results.ts';
import { isEnded } from './replies/task.ts';
import { readRequest, type RestRequest } from './request/read-request.ts';
import { createPartStore } from './request/upload.ts';
import { headerVariables } from './route/headers.ts';
import type { OtherType, RequestFacts, RestSettings, Route } from './route/route.ts';
import { waitForEnd } from './wait.ts';

/** Runs one request through its route: reads it, runs the GraphQL documents, waits if the operation is synchronous, replies. */

/** What routes are run with. */
export interface RunDeps {
  readonly executor: GraphqlExecutor;
  readonly settings: RestSettings & { readonly authMode: AuthMode };
  /** Aborted when synchronous operations wait no longer, because the server stops (default: never). */
  readonly stopping?: AbortSignal | undefined;
  readonly logger: Logger;
}

/** A request whose route has been found. */
export interface RunRequest {
  readonly request: IncomingMessage;
  readonly route: Route;
  /** How the route's service responds. */
  readonly style: ResponseStyle;
  readonly pathParams: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  readonly context: RequestContext;
  /** Filled with the names of what was sent and is not read. */
  readonly ignored: string[];
}

/** A response with a JSON body. */
export interface RestResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
  /** A page or table that is sent instead of the body. */
  readonly page?: string;
  /** `text/html` when absent. */
  readonly pageType?: OtherType;
}

/** A request without problems. */
type ValidRequest = Exclude<RestRequest, { readonly problems: unknown }>;

/** Runs a route. Throws AppError, ClientDisconnected, or something unknown; the router turns those into responses. */
export async function runRoute(deps: RunDeps, run: RunRequest): Promise<RestResponse> {
  const { route, context } = run;
  if (route.rule !== undefined) enforce(route.rule, context.caller, deps.settings.authMode);
  // What it waits for is read in the end: whoever may not is refused before it is started and paid for.
  if (route.wait !== undefined) enforceScope(context.caller, 'read');
  const read = await readParts(deps, run);
  if ('problems' in read)
    return run.style.invalid(read.problems, { traceId: context.caller.traceId, ignored: run.ignored });
  return replyTo(deps, run, read);
}

async function replyTo(deps: RunDeps, run: RunRequest, read: ValidRequest): Promise<RestResponse> {
  const { route } = run;
  const replyContext = {
    input: read.input as never,
    request: collectFacts(run, read),
    settings: deps.settings,
    ignored: run.ignored,
  };
  try {
    const made = await runDocuments(deps, run, read);
    const data = await waitIfSynchronous(deps, run, read, made);
    const notes = [...read.notes, ...waitNotes(run.route, data)];
    const reply = route.reply(data as never, replyContext);
    const {
      status = 200,
      headers = {},
      page,
      pageType = 'text/html',
    } = route.head?.(data as never, replyContext) ?? {};
    return {
      status,
      headers: { ...headers, ...manageHeader(route, made, read) },
      body: readBody(run, reply, { notes, status }),
      ...(page === undefined ? {} : { page, pageType }),
    };
  } catch (error) {
    const errorReply = error instanceof AppError ? route.errorReplies?.[error.code] : undefined;
    if (errorReply === undefined) {
      throw route.fieldNames === undefined
        ? withSentNames(error, read.sent)
        : withRouteNames(error, route.fieldNames);
    }
    const body = readBody(run, errorReply(replyContext), { notes: read.notes, status: 200 });
    return { status: 200, body };
  }
}

function readBody(
  { route, style, context, ignored }: RunRequest,
  reply: object,
  { notes, status }: Pick<ValidRequest, 'notes'> & { readonly status: number },
): object {
  const { traceId } = context.caller;
  return route.isBare === true ? reply : style.success(reply, { status, notes, ignored, traceId });
}

/** The token that deletes what the request made, of its task or else of its file; none where the caller is the owner. */
function manageHeader(
  { document }: Route,
  data: Data,
  { input }: ValidRequest,
): Readonly<Record<string, string>> {
  const made = document === null ? input : data;
  const tokens = Object.values(made).flatMap((thing) => {
    const token = (thing as { readonly manageToken?: unknown } | null | undefined)?.manageToken;
    return typeof token === 'string' ? [token] : [];
  });
  return tokens[0] === undefined ? {} : { 'X-Manage-Token': tokens[0] };
}

function collectFacts({ request, rawQuery }: RunRequest, { rawBody }: ValidRequest): RequestFacts {
  return { headers: request.headers, rawQuery, rawBody };
}

/** Reads the request. Permanent files that a valid request does not use are removed again. */
async function readParts(deps: RunDeps, run: RunRequest): Promise<RestRequest> {
  const parts = createPartStore({ ...deps, context: run.context });
  let inUse: readonly unknown[] = [];
  try {
    const fileMaxBytes = deps.settings.uploadMaxBytes;
    const { isStrict } = run.style;
    const read = await readRequest({ ...run, isStrict, fileMaxBytes, store: parts.store });
    if ('input' in read) inUse = Object.values(read.input);
    return read;
  } finally {
    await parts.keepOnly(inUse);
  }
}

type Data = Readonly<Record<string, unknown>>;

async function runDocuments({ executor }: RunDeps, run: RunRequest, read: ValidRequest): Promise<Data> {
  const { route, request, context } = run;
  if (route.document === null) return {};
  const facts = collectFacts(run, read);
  const firstVariables = route.first?.variables(read.input as never, facts) ?? null;
  const found =
    route.first === undefined || firstVariables === null
      ? null
      : await runDocument({ executor, context }, route.first.document, firstVariables);
  const variables = {
    ...route.variables(read.input as never, read.json, found as never, facts),
    ...headerVariables(route.document, request.headers),
  };
  return runDocument<Data, object>({ executor, context }, route.document, variables);
}

/** A synchronous operation: waits for the end of the task that was started, then reads it again. */
async function waitIfSynchronous(
  deps: RunDeps,
  { route, context }: RunRequest,
  read: ValidRequest,
  data: Data,
): Promise<Data> {
  if (route.wait === undefined) return data;
  const [name = ''] = Object.keys(data);
  const started = data[name] as TaskFields;
  const execution = { executor: deps.executor, context };
  const seconds = maxWaitSeconds(route, read, deps.settings.syncMaxWaitSeconds);
  const { stopping } = deps;
  await waitForEnd({ ...execution, task: started, maxWaitSeconds: seconds, stopping });
  const { task } = await runDocument(execution, TaskById, { id: started.id });
  if (task === null) throw new AppError('NOT_FOUND', `task ${started.id} is gone`);
  if (stopping?.aborted === true && !isEnded(task)) throw stopsWhileWaiting(started.id);
  return { [name]: task };
}

/** Nothing is lost: the work goes on, and the same request with the same Idempotency-Key waits for the same task. */
function stopsWhileWaiting(id: string): AppError {
  const message = `this server stops, and the work goes on: ask GET /api/task/status/${id}`;
  return new AppError('UNAVAILABLE', message, { retryAfter: 5 });
}

/** Where to ask when the time is up before the task has ended. */
function waitNotes({ wait }: Route, data: Data): readonly string[] {
  const [task] = Object.values(data) as readonly TaskFields[];
  if (wait === undefined || task === undefined || isEnded(task)) return [];
  return [`the work goes on: ask GET /api/task/status/${task.id}`];
}

/** What the caller sent; else the documented default, within the server's own setting. */
function maxWaitSeconds({ wait }: Route, { input, sent }: ValidRequest, settingSeconds: number): number {
  const name = wait?.maxWait;
  const requested = name === undefined ? undefined : input[name];
  if (name === undefined || typeof requested !== 'number') return settingSeconds;
  return sent.has(name) ? requested : Math.min(requested, settingSeconds);
}
