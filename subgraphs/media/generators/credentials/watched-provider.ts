import { UpstreamError } from '../../domain/failure.ts';
import type {
  CallCapability,
  CallContext,
  ChatPiece,
  JobCapability,
  Provider,
} from '../../providers/contract/provider.ts';

/** Reported of what an upstream says about a binding's credentials. */
export interface CredentialWatch {
  /** An answer that needs valid credentials has come; `model` is the one that was asked for, where work was started with it. */
  accepted(model: string | null): void;
  refused(error: UpstreamError): void;
  /** The upstream does not have the model that work was to be started with. */
  gone?(model: string, error: UpstreamError): void;
  /** Any call has failed. */
  failed?(thrown: unknown): void;
}

/** The same provider; each of its calls is reported to the watch. */
export function watchedProvider(provider: Provider, watch: CredentialWatch): Provider {
  const reported: Reported = async (work, context) => {
    const model = context?.connection.model ?? null;
    try {
      const answer = await work;
      watch.accepted(model);
      return answer;
    } catch (thrown) {
      tellRefusal(thrown, watch, model);
      throw thrown;
    }
  };
  const { jobs, calls, chat, chatStream, voices, upload } = provider;
  return {
    ...provider,
    ...(jobs && { jobs: mapped(jobs, (job: JobCapability) => watchedJob(job, reported)) }),
    ...(calls && {
      calls: mapped(calls, (one: CallCapability) => ({
        ...one,
        call: (request, context) => reported(one.call(request, context), context),
      })),
    }),
    ...(chat && { chat: (request, context) => reported(chat(request, context), context) }),
    ...(chatStream && {
      chatStream: (request, context) =>
        watchedStream(chatStream(request, context), watch, context.connection.model),
    }),
    ...(voices && { voices: (context) => reported(voices(context)) }),
    ...(upload && { upload: (request, context) => reported(upload(request, context)) }),
  };
}

/** `context` is that of work that is started. */
type Reported = <Answer>(work: Promise<Answer>, context?: CallContext) => Promise<Answer>;

function watchedJob(job: JobCapability, reported: Reported): JobCapability {
  return {
    ...job,
    start: (request, context) => reported(job.start(request, context), context),
    status: (handle, context) => reported(job.status(handle, context)),
  };
}

/** Each capability of a table changed; what a kind takes and answers stays. */
function mapped<Table extends object, Capability>(
  table: Table,
  change: (capability: Capability) => Capability,
): Table {
  const entries = Object.entries(table).map(([kind, capability]) => [
    kind,
    capability === undefined ? capability : change(capability as Capability),
  ]);
  return Object.fromEntries(entries) as Table;
}

async function* watchedStream(
  stream: AsyncIterable<ChatPiece>,
  watch: CredentialWatch,
  model: string | null,
): AsyncIterable<ChatPiece> {
  try {
    for await (const piece of stream) {
      if ('outcome' in piece) watch.accepted(model);
      yield piece;
    }
  } catch (thrown) {
    tellRefusal(thrown, watch, model);
    throw thrown;
  }
}

function tellRefusal(thrown: unknown, watch: CredentialWatch, model: string | null): void {
  watch.failed?.(thrown);
  if (thrown instanceof UpstreamError && thrown.code === 'MODEL_GONE' && model !== null) {
    watch.gone?.(model, thrown);
  }
  if (thrown instanceof UpstreamError && thrown.refusedCredentials) watch.refused(thrown);
}
