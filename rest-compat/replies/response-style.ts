import type { Section } from '../route/route.ts';
import {
  failure,
  withNotes,
  validationError,
  type Problem,
  issueData,
  toIssues,
  joinIssues,
  type Done,
  type WorkflowEnvelope,
} from './envelopes.ts';
import { failureFacts, mediaFailures, workflowFailures } from './failures.ts';

/** How a service responds: the two documents differ in envelope and statuses. */
export interface ResponseStyle {
  /** Whether repeated query parameters are refused and a JSON null counts as absent. */
  readonly isStrict: boolean;
  /** The body of a success. */
  success(reply: object, facts: SuccessFacts): object;
  /** The response to inputs that are not as documented. */
  invalid(
    problems: readonly Problem[],
    facts: RefusalFacts,
  ): { readonly status: number; readonly body: object };
  /** The response to whatever was thrown. */
  failure(thrown: unknown, facts: RefusalFacts): FailureResponse;
  /** The body of a response to what reaches no route: an unknown path, a wrong method, a bad credential. */
  refusal(refused: RefusedRequest): object;
}

/** How what fails before its route, or reaches none, is answered. */
export type EdgeStyle = Pick<ResponseStyle, 'failure' | 'refusal'>;

interface RefusalFacts {
  readonly traceId: string;
  /** Names of what was sent and the operation does not read. */
  readonly ignored: readonly string[];
}

interface SuccessFacts extends RefusalFacts {
  readonly status: number;
  /** What was ignored or clamped, in words. */
  readonly notes: readonly string[];
}

interface FailureResponse {
  readonly status: number;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
  /** True when it was not expected: to be logged. */
  readonly unexpected: boolean;
}

interface RefusedRequest {
  readonly status: number;
  readonly message: string;
  readonly traceId: string;
  /** `detail` of the media service; the message when absent. */
  readonly detail?: string;
}

/** The response style of a section. */
export function findResponseStyle({
  service,
  envelope,
}: Pick<Section, 'service' | 'envelope'>): ResponseStyle {
  if (service === 'media') return mediaStyle;
  return envelope === 'sign-in' ? signInStyle : plainWorkflowStyle;
}

const mediaStyle: ResponseStyle = {
  isStrict: false,
  success: (reply, { notes, ignored }) => withNotes(reply, [...notes, ...ignoredNotes(ignored)]),
  invalid: (problems, { ignored }) => ({ status: 422, body: validationError(problems, ignored) }),
  failure(thrown, { traceId, ignored }) {
    const { status, msg, headers, unexpected } = failureFacts(thrown, traceId, mediaFailures);
    return { status, body: withNotes(failure(msg), ignoredNotes(ignored)), headers, unexpected };
  },
  refusal: ({ message, detail = message }) => ({ ...failure(message), detail }),
};

function ignoredNotes(ignored: readonly string[]): readonly string[] {
  return ignored.length === 0 ? [] : [`ignored: ${ignored.join(', ')}`];
}

const plainWorkflowStyle = workflowStyle({ tellsSuccess: false });
const signInStyle = workflowStyle({ tellsSuccess: true });

function workflowStyle({ tellsSuccess }: { readonly tellsSuccess: boolean }): ResponseStyle {
  const envelope = (code: number, { message, data }: Done, traceId: string): WorkflowEnvelope => ({
    ...(tellsSuccess ? { success: code < 400 } : {}),
    code,
    message,
    ...(data === undefined ? {} : { data }),
    timestamp: new Date().toISOString(),
    traceId,
  });
  return {
    isStrict: true,
    success(reply, { status, traceId, notes }) {
      const { message, data } = reply as Done;
      const noted = notes.length === 0 ? message : `${message} (${notes.join('; ')})`;
      return envelope(status, { message: noted, data }, traceId);
    },
    invalid(problems, { traceId }) {
      const issues = toIssues(problems);
      return {
        status: 400,
        body: envelope(400, { message: joinIssues(issues), ...issueData(issues) }, traceId),
      };
    },
    failure(thrown, { traceId }) {
      const { status, msg, problems, ...rest } = failureFacts(thrown, traceId, workflowFailures);
      const data = status === 400 ? issueData(problems) : {};
      return { ...rest, status, body: envelope(status, { message: msg, ...data }, traceId) };
    },
    refusal: ({ status, message, traceId }) => envelope(status, { message }, traceId),
  };
}
