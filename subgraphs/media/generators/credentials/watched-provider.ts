import { UpstreamError } from '../../domain/failure.ts';
import type {
  CallCapability,
  ChatPiece,
  JobCapability,
  Provider,
} from '../../providers/contract/provider.ts';

/** Reported of what an upstream says about a binding's credentials. */
export interface CredentialWatch {
  /** An answer that needs valid credentials has come. */
  accepted(): void;
  refused(error: UpstreamError): void;
  /** Any call has failed. */
  failed?(thrown: unknown): void;
}

/** The same provider; the watch is told of each of its calls. */
export function watchedProvider(provider: Provider, watch: CredentialWatch): Provider {
  const reported = async <Answer>(work: Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await work;
      watch.accepted();
      return answer;
    } catch (thrown) {
      tellRefusal(thrown, watch);
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
        call: (request, context) => reported(one.call(request, context)),
      })),
    }),
    ...(chat && { chat: (request, context) => reported(chat(request, context)) }),
    ...(chatStream && {
      chatStream: (request, context) => watchedStream(chatStream(request, context), watch),
    }),
    ...(voices && { voices: (context) => reported(voices(context)) }),
    ...(upload && { upload: (request, context) => reported(upload(request, context)) }),
  };
}

type Reported = <Answer>(work: Promise<Answer>) => Promise<Answer>;

function watchedJob(job: JobCapability, reported: Reported): JobCapability {
  return {
    ...job,
    start: (request, context) => reported(job.start(request, context)),
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
): AsyncIterable<ChatPiece> {
  try {
    for await (const piece of stream) {
      if ('outcome' in piece) watch.accepted();
      yield piece;
    }
  } catch (thrown) {
    tellRefusal(thrown, watch);
    throw thrown;
  }
}

function tellRefusal(thrown: unknown, watch: CredentialWatch): void {
  watch.failed?.(thrown);
  if (thrown instanceof UpstreamError && thrown.refusedCredentials) watch.refused(thrown);
}
