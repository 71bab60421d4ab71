import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { Binding } from '../bindings/binding.ts';
import { watchedProvider } from './watched-provider.ts';

/**
 * Which bindings' credentials their upstreams refuse: logged for operators, and remembered until they are accepted again
 * or every process has restarted. All processes know what one of them met.
 */
export interface CredentialRefusals {
  /** The same bindings; what their upstreams say of their credentials is noted. */
  watch(bindings: readonly Binding[]): readonly Binding[];
  /** When they were refused last; null when they are accepted, as far as is known. */
  refusedAt(bindingId: string): Date | null;
  close(): void;
}

/** Topics of the bus; the key is the id of a binding, the version a time in milliseconds. */
const REFUSED_TOPIC = 'credentials-refused';
const ACCEPTED_TOPIC = 'credentials-accepted';

/** Milliseconds between two log lines about one binding: its running work is polled again and again. */
const LOG_PAUSE_MS = 60_000;

/** Makes the memory of one process. */
export function createCredentialRefusals({
  bus,
  logger,
}: {
  readonly bus: EventBus;
  readonly logger: Logger;
}): CredentialRefusals {
  const refused = new Map<string, number>();
  const logged = new Map<string, number>();
  const stops = [
    bus.listen(REFUSED_TOPIC, (id, at) => void refused.set(id, at)),
    bus.listen(ACCEPTED_TOPIC, (id) => void refused.delete(id)),
  ];

  function noteRefusal({ id, provider, settings }: Binding, message: string): void {
    const now = Date.now();
    if (now - (logged.get(id) ?? 0) >= LOG_PAUSE_MS) {
      logged.set(id, now);
      const fields = { provider: provider.name, setting: settings, binding: id, reason: message };
      logger.error(fields, 'a provider refuses our credentials: check the setting');
    }
    bus.publish(REFUSED_TOPIC, id, now);
  }

  function noteAcceptance({ id, provider }: Binding): void {
    if (!refused.has(id)) return;
    logged.delete(id);
    logger.info({ provider: provider.name, binding: id }, 'a provider accepts our credentials again');
    bus.publish(ACCEPTED_TOPIC, id, Date.now());
  }

  return {
    watch: (bindings) =>
      bindings.map((binding) => ({
        ...binding,
        provider: watchedProvider(binding.provider, {
          accepted: () => noteAcceptance(binding),
          refused: ({ message }) => noteRefusal(binding, message),
        }),
      })),
    refusedAt(bindingId) {
      const at = refused.get(bindingId);
      return at === undefined ? null : new Date(at);
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}
