import type { Logger } from '../../../platform/process/logger.ts';
import { newId, nowSeconds, published, type State, type StripeObject } from './state.ts';

/** The webhook's address and secret. */
export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

/** Records events and delivers them, with retries. */
export interface Events {
  emit(type: string, thing: StripeObject): void;
  /** Delivers an event again. */
  resend(id: string): void;
  /** Holds events back until `release` delivers them in the test's order. */
  hold(): void;
  release(order?: (ids: readonly string[]) => readonly string[]): void;
  /** Resumes the undelivered events of an earlier process. */
  resume(): void;
  stop(): void;
}

export interface EventsOptions {
  readonly state: State;
  /** Read at each delivery. Null: no webhook. */
  readonly target: () => WebhookTarget | null;
  /** Milliseconds between the attempts of a delivery. */
  readonly pausesMs: readonly number[];
  readonly logger: Logger;
}

const TIMEOUT_MS = 10_000;
/** The API version of events. */
const API_VERSION = '2026-10-28.endive';

/** Creates it; a failed delivery is retried after each of `pausesMs`. */
export function createEvents({ state, target, pausesMs, logger }: EventsOptions): Events {
  const stopping = new AbortController();
  let held: string[] | null = null;
  const timers = new Set<NodeJS.Timeout>();

  async function deliver(event: StripeObject, tries: number): Promise<void> {
    const to = target();
    if (to === null || stopping.signal.aborted || Number(event['pending_webhooks']) === 0) return;
    const status = await post(event, to, stopping.signal);
    if (status >= 200 && status < 300) {
      event['pending_webhooks'] = 0;
      await state.save();
      return;
    }
    const pause = pausesMs[tries];
    if (pause === undefined || stopping.signal.aborted) return;
    logger.debug({ event: event.id, status }, 'a webhook of the stand-in was not taken; it comes again');
    const timer = setTimeout(() => {
      timers.delete(timer);
      start(event, tries + 1);
    }, pause);
    timers.add(timer.unref());
  }

  function start(event: StripeObject, tries = 0): void {
    void deliver(event, tries).catch((error: unknown) =>
      logger.error({ error }, 'a webhook of the stand-in could not be delivered'),
    );
  }

  return {
    emit(type, thing) {
      const event = state.add('event', makeEvent(type, thing, target() !== null));
      if (held === null) start(event);
      else held.push(event.id);
    },
    resend(id) {
      const event = state.get('event', id);
      event['pending_webhooks'] = 1;
      start(event);
    },
    hold() {
      held ??= [];
    },
    release(order = (ids) => ids) {
      const ids = order(held ?? []);
      held = null;
      for (const id of ids) start(state.get('event', id));
    },
    resume() {
      for (const event of state.all('event')) if (Number(event['pending_webhooks']) > 0) start(event);
    },
    stop() {
      stopping.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function makeEvent(type: string, thing: StripeObject, isAwaited: boolean): StripeObject {
  return {
    id: newId('evt_1', 24),
    object: 'event',
    api_version: API_VERSION,
    created: nowSeconds(),
    data: { object: structuredClone(published(thing)) },
    livemode: false,
    pending_webhooks: isAwaited ? 1 : 0,
    request: { id: null, idempotency_key: null },
    type,
  };
}

/** The status of the answer; 0 when none came. */
async function post(
  event: StripeObject,
  { url, secret }: WebhookTarget,
  signal: AbortSignal,
): Promise<number> {
  const payload = JSON.stringify(published(event), null, 2);
  // Loaded only when needed: the SDK is 270 modules.
  const { Stripe } = await import('stripe');
  const signature = await Stripe.webhooks.generateTestHeaderStringAsync({ payload, secret });
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': signature,
        'user-agent': 'Stripe/1.0 (stand-in)',
      },
      body: payload,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return 0; // unreachable or too slow: it is retried
  }
}
