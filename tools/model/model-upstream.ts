import { UpstreamError } from '../../subgraphs/media/domain/failure.ts';
import type {
  Handle,
  JobCapability,
  Outcome,
  Provider,
  StartContext,
} from '../../subgraphs/media/providers/contract/provider.ts';
import { PNG } from '../../subgraphs/media/tasks/testing/upstream.ts';
import type { ScheduledProcess } from './scheduled-process.ts';

/** One purchase: work that the upstream took. */
interface Purchase {
  readonly binding: string;
  readonly reference: string;
  /** `task/step`. */
  readonly step: string;
  state: 'running' | 'finished' | 'failed' | 'lost' | 'cancelled';
  /** Nobody has answered about it: after some time its slot is given up, though it may run. */
  isUnanswered: boolean;
  /** Somebody has heard how it ended, or has cancelled it. */
  isKnown: boolean;
  /** Who has got the answer of its start. */
  answeredTo: ScheduledProcess | null;
}

/** An upstream that keeps a journal of what it took, and misbehaves as it is told. */
export interface ModelUpstream {
  readonly purchases: Purchase[];
  /** Steps of which two purchases were alive at once, and bindings with more of them than they may have. */
  readonly violations: string[];
  isSilent: boolean;
  cancelsFail: boolean;
  /** What the next start waits for before it arrives, or its answer before it comes back. */
  held: { readonly at: 'arrival' | 'answer'; readonly until: Promise<void> } | null;
  /** The answer of the next status call of running work waits for this; `purchase` is set to that work. */
  heldStatus: { readonly until: Promise<void>; purchase: Purchase | null } | null;
  /** Bindings that some process has done without: of their work nobody may be left who can ask. */
  readonly takenAway: Set<string>;
  /** What becomes of the next starts; accepted when there is none. */
  readonly nextStarts: ('refused' | 'cut' | 'accepted-and-cut')[];
  makeProvider(process: ScheduledProcess, binding: string): Provider;
}

/** Bindings whose work is answered on the spot. */
const isCall = (binding: string): boolean => binding.startsWith('call');
/** Bindings where no start can be looked up: only who gets its answer knows of the work. */
const isBlind = (binding: string): boolean => binding.startsWith('blind');

const OUTCOME: Outcome = { files: [{ content: PNG, contentType: 'image/png' }], texts: [] };
const silence = (startUnknown = false) => new UpstreamError('UNAVAILABLE', 'no answer', { startUnknown });

/** What a binding may have at once: where there is room for two, the claim alone keeps a start from being sent twice. */
export const concurrencyFor = (binding: string): number => (binding === 'test#0' ? 2 : 1);

/** Makes it. */
export function createModelUpstream(): ModelUpstream {
  const state: ModelUpstream = {
    purchases: [],
    violations: [],
    isSilent: false,
    cancelsFail: false,
    held: null,
    heldStatus: null,
    takenAway: new Set(),
    nextStarts: [],
    makeProvider: (process, binding) => {
      const of: Caller = { upstream: state, process, binding };
      return isCall(binding)
        ? { name: 'model', calls: { IMAGE: { call: (_request, context) => call(of, context) } } }
        : { name: 'model', jobs: { IMAGE: createJobs(of) } };
    },
  };
  return state;
}

/** Who calls, on whose account. */
interface Caller {
  readonly upstream: ModelUpstream;
  readonly process: ScheduledProcess;
  readonly binding: string;
}

const isLive = ({ state }: Purchase): boolean => state === 'running';

function buy({ upstream, binding }: Caller, reference: string): void {
  const { purchases, violations } = upstream;
  const step = reference.split('/').slice(0, 2).join('/');
  const isPaid = (each: Purchase) => each.step === step && (isLive(each) || each.state === 'finished');
  if (purchases.some(isPaid)) violations.push(`bought twice: ${reference}`);
  if (purchases.some((each) => each.reference === reference)) violations.push(`sent twice: ${reference}`);
  const live = purchases.filter((each) => isLive(each) && !each.isUnanswered && each.binding === binding);
  // What only the answer of a start reports may come back after its slot was given to another one.
  if (!isBlind(binding) && live.length >= concurrencyFor(binding))
    violations.push(`too many at ${binding}: ${reference}`);
  // What is answered on the spot is over with its start.
  purchases.push({
    binding,
    reference,
    step,
    state: isCall(binding) ? 'finished' : 'running',
    isUnanswered: upstream.takenAway.has(binding) || isBlind(binding),
    isKnown: isCall(binding),
    answeredTo: null,
  });
}

/** A process is gone in the middle of something: it has told nobody what it alone knew. */
export function forgetAnswersTo({ purchases }: ModelUpstream, process: ScheduledProcess): void {
  for (const purchase of purchases)
    if (isBlind(purchase.binding) && purchase.answeredTo === process && !purchase.isKnown)
      purchase.isUnanswered = true;
}

async function start(caller: Caller, reference: string): Promise<void> {
  const { upstream, process } = caller;
  await process.gate('send start');
  const { held } = upstream;
  upstream.held = null;
  if (held?.at === 'arrival') await held.until;
  const fate = upstream.nextStarts.shift();
  if (fate === 'refused') throw new UpstreamError('RATE_LIMITED', 'later');
  if (fate === 'cut') throw silence(true);
  buy(caller, reference);
  if (held?.at === 'answer') await held.until;
  await process.gate('answer of start');
  if (fate === 'accepted-and-cut') throw silence(true);
  answered(caller, reference);
}

function answered({ upstream, process, binding }: Caller, reference: string): void {
  const purchase = upstream.purchases.find((each) => each.reference === reference);
  if (purchase === undefined) return;
  purchase.answeredTo = process;
  if (isBlind(binding) && !upstream.takenAway.has(binding)) purchase.isUnanswered = false;
}

async function call(caller: Caller, { reference, signal }: StartContext): Promise<Outcome> {
  await start(caller, reference);
  signal.throwIfAborted();
  return OUTCOME;
}

function createJobs(caller: Caller): JobCapability {
  const { upstream, process } = caller;
  const findPurchase = ({ reference }: Handle) =>
    upstream.purchases.find((purchase) => purchase.reference === reference);
  function stayQuiet(handle: Handle): never {
    const purchase = findPurchase(handle);
    if (purchase !== undefined) purchase.isUnanswered = true;
    throw silence();
  }
  return {
    pollMs: 1_000,
    async start(_request, { reference }) {
      await start(caller, reference);
      return { reference };
    },
    ...(!isBlind(caller.binding) && {
      async find(reference: string) {
        await process.gate('find');
        if (upstream.isSilent) stayQuiet({ reference });
        return findPurchase({ reference }) === undefined ? 'absent' : { reference };
      },
    }),
    async status(handle) {
      await process.gate('status');
      if (upstream.isSilent) stayQuiet(handle);
      const purchase = findPurchase(handle);
      const state = purchase?.state ?? 'lost';
      const { heldStatus } = upstream;
      if (heldStatus?.purchase === null && purchase !== undefined && isLive(purchase)) {
        heldStatus.purchase = purchase;
        await heldStatus.until;
      }
      await process.gate('answer of status');
      if (purchase !== undefined) purchase.isKnown ||= state !== 'running';
      if (state === 'lost') throw new UpstreamError('LOST', 'no such work');
      if (state === 'running') return { state: 'queued' };
      if (state === 'finished') return { state, outcome: OUTCOME };
      return { state: 'failed', error: new UpstreamError('UNAVAILABLE', 'it broke') };
    },
    async cancel(handle) {
      await process.gate('cancel');
      if (upstream.isSilent || upstream.cancelsFail) stayQuiet(handle);
      const purchase = findPurchase(handle);
      if (purchase !== undefined) purchase.isKnown = true;
      if (purchase === undefined || !isLive(purchase)) return 'too-late';
      purchase.state = 'cancelled';
      await process.gate('answer of cancel');
      return 'cancelled';
    },
  };
}
