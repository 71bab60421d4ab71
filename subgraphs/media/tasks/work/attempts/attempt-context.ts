import type { Span } from '../../../../../platform/tracing/span.ts';
import type { AttemptRow, MediaDatabase, StepRow, TaskRow } from '../../../database/database.ts';
import type { AttemptKey } from '../../../domain/attempt.ts';
import { requestKind } from '../../../domain/work/request.ts';
import type { StepInput, StepKind } from '../../../domain/work/work.ts';
import type { Binding, CatalogModel } from '../../../generators/bindings/binding.ts';
import { modelFor } from '../../../generators/limits/limits.ts';
import type { CallCapability, Connection, JobCapability } from '../../../providers/contract/provider.ts';
import { readAttempts } from '../../storage/attempt-store.ts';
import { readSteps } from '../../storage/step-store.ts';
import { readTasks } from '../../storage/task-store.ts';
import type { WorkerDependencies } from './dependencies.ts';

/** One attempt with everything that is needed to work on it. */
export interface AttemptContext {
  readonly task: TaskRow;
  readonly step: StepRow;
  readonly attempt: AttemptRow;
  readonly binding: Binding;
}

/** Starts a span of an attempt's work, in the trace in which its task was submitted. */
export function attemptSpan(
  { tracer }: Pick<WorkerDependencies, 'tracer'>,
  name: string,
  { traceparent, attempt }: { readonly traceparent: string | null; readonly attempt: AttemptRow },
): Span | null {
  const { taskId, step, number, binding, bindingName, provider, model } = attempt;
  const attributes = {
    'kiln.task': taskId,
    'kiln.step': step,
    'kiln.attempt': number,
    'kiln.binding': bindingName ?? binding,
    'kiln.provider': provider,
    ...(model !== null && { 'kiln.model': model }),
  };
  return tracer.start(name, { kind: 'consumer', traceparent, attributes });
}

/** The key of an attempt's row. */
export function toAttemptKey(attempt: Pick<AttemptRow, 'taskId' | 'step' | 'number'>): AttemptKey {
  return { taskId: attempt.taskId, step: attempt.step, number: attempt.number };
}

/**
 * The connection for one piece of work: with the model that the caller named, else the binding's first for this kind
 * of work. A binding without a model of its own names none on the wire.
 */
export function connectionFor(binding: Binding, input: StepInput): Connection {
  const { connection } = binding;
  if (connection.model === null) return connection;
  const model = modelFor(binding, input);
  const timeout = callTimeoutMs(binding, model, input);
  return {
    ...connection,
    model: input.model ?? model?.id ?? connection.model,
    ...(timeout !== undefined && { callTimeoutMs: timeout }),
    ...(model?.wire && { wire: model.wire }),
    ...(model?.options && { options: model.options }),
  };
}

/** Reads what belongs to an attempt; null when its task or binding is gone. */
export async function readContext(
  dependencies: WorkerDependencies,
  attempt: AttemptRow,
): Promise<AttemptContext | null> {
  const [task] = await readTasks(dependencies.database, [attempt.taskId]);
  const steps = await readSteps(dependencies.database, attempt.taskId);
  const step = steps.find((entry) => entry.step === attempt.step);
  const binding = dependencies.registry.ofAttempt(attempt);
  return task === undefined || step === undefined || binding === null
    ? null
    : { task, step, attempt, binding };
}

/** The newest attempt of a step. */
export async function newestAttempt(
  database: MediaDatabase,
  { taskId, step }: { taskId: string; step: number },
): Promise<AttemptRow | null> {
  const attempts = await readAttempts(database, [taskId]);
  return attempts.findLast((attempt) => attempt.step === step) ?? null;
}

/** Pause before a new job's first poll, in milliseconds: none where it can be streamed from then on. */
export function firstPollMs({ watch, pollMs }: Pick<JobCapability, 'watch' | 'pollMs'>): number {
  return watch === undefined ? pollMs : 0;
}

/** A job capability of a binding for a kind of work, when it has one. */
export function findJob(binding: Binding, kind: StepKind): JobCapability | undefined {
  return binding.provider.jobs?.[requestKind(kind)];
}

/** The same for work that is answered on the spot. */
export function findCall(binding: Binding, kind: StepKind): CallCapability | undefined {
  return binding.provider.calls?.[requestKind(kind)];
}

/** Pixels from which an image takes longer than the catalog says for usual ones: those of 4K, not of 2K. */
const MANY_PIXELS = 6_000_000;
const LONG_QUALITIES: ReadonlySet<unknown> = new Set(['high', 'xhigh', 'max']);

/**
 * Most milliseconds of a call that makes the result itself: what the binding says, else what the model's usual pieces take, half as
 * long again for 4K and for the best qualities. Undefined: as long as the wire usually takes.
 */
function callTimeoutMs(
  { callTimeoutSeconds }: Pick<Binding, 'callTimeoutSeconds'>,
  model: Pick<CatalogModel, 'longestSeconds'> | undefined,
  input: StepInput,
): number | undefined {
  if (callTimeoutSeconds !== undefined) return callTimeoutSeconds * 1000;
  const seconds = model?.longestSeconds ?? null;
  if (seconds === null) return undefined;
  const slower = [isLarge(input), LONG_QUALITIES.has(readQuality(input))].filter(Boolean).length;
  return seconds * 1.5 ** slower * 1000;
}

function isLarge(input: StepInput): boolean {
  const size = 'resolution' in input && typeof input.resolution === 'string' ? input.resolution : '';
  const [width = 0, height = 0] = size.split('x').map(Number);
  return size.toUpperCase() === '4K' || width * height >= MANY_PIXELS;
}

/** The quality that was asked for, as a field of its own or among the vendor's options. */
function readQuality(input: StepInput): unknown {
  if ('quality' in input) return input.quality;
  const options: unknown = 'options' in input ? input.options : null;
  return typeof options === 'object' && options !== null && 'quality' in options ? options.quality : null;
}
